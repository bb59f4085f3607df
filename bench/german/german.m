-- German's directory protocol with data, for Murphi (Rumur 2022.08.20).
--
-- One cache line; a home directory; NODE_COUNT clients. The formulation and its
-- names follow Chou, Mannava and Park, "A simple method for parameterized
-- verification of cache coherence protocols", FMCAD 2004. german.pml is the
-- same protocol for SPIN; README.md has the rules as a table, the counts that
-- this file must give, and how to run it.
--
-- A field that means nothing in a state is undefined there, so that two states
-- never differ only in a leftover. Two fields keep a value by intent:
--   * MemData keeps the stale value while ExGntd holds, as real memory does;
--   * InvSet keeps its members after a shared grant that had no need to
--     invalidate them; the next request overwrites it.

const
  NODE_COUNT: 4;
  DATA_COUNT: 2;

type
  -- Scalarsets, so that the same file also serves with symmetry reduction.
  NODE: scalarset(NODE_COUNT);
  DATA: scalarset(DATA_COUNT);

  CACHE_STATE: enum { I, S, E };  -- invalid, shared, exclusive
  CACHE: record
    State: CACHE_STATE;
    Data: DATA;                   -- undefined iff State = I
  end;

  MSG_CMD: enum { Empty, ReqS, ReqE, Inv, InvAck, GntS, GntE };
  MSG: record
    Cmd: MSG_CMD;                 -- Empty: no message in this channel
    Data: DATA;                   -- defined iff the message carries data
  end;

var
  Cache: array [NODE] of CACHE;
  Chan1: array [NODE] of MSG;     -- client to home: ReqS, ReqE; never data
  Chan2: array [NODE] of MSG;     -- home to client: Inv; GntS, GntE with data
  Chan3: array [NODE] of MSG;     -- client to home: InvAck, with data from E

  InvSet: array [NODE] of boolean;  -- clients still to be sent an Inv
  ShrSet: array [NODE] of boolean;  -- clients holding, or being granted, a copy
  ExGntd: boolean;                  -- the copy in ShrSet is exclusive
  CurCmd: MSG_CMD;                  -- request in service; Empty when idle
  CurPtr: NODE;                     -- its client; undefined iff CurCmd = Empty
  MemData: DATA;                    -- the home's memory
  AuxData: DATA;                    -- auxiliary: the last value written

-- One start state for each value that memory may hold.
ruleset d: DATA do
  startstate "Init"
    undefine Cache;
    undefine Chan1;
    undefine Chan2;
    undefine Chan3;
    for i: NODE do
      Cache[i].State := I;
      Chan1[i].Cmd := Empty;
      Chan2[i].Cmd := Empty;
      Chan3[i].Cmd := Empty;
      InvSet[i] := false;
      ShrSet[i] := false;
    end;
    ExGntd := false;
    CurCmd := Empty;
    undefine CurPtr;
    MemData := d;
    AuxData := d;
  end;
end;

-- The owner writes any value, the present one included.
ruleset i: NODE; d: DATA do
  rule "Store"
    Cache[i].State = E
  ==>
    Cache[i].Data := d;
    AuxData := d;
  end;
end;

ruleset i: NODE do

  -- A client asks: one request under way at a time.

  rule "SendReqS"
    Chan1[i].Cmd = Empty & Cache[i].State = I
  ==>
    Chan1[i].Cmd := ReqS;
  end;

  rule "SendReqE"
    Chan1[i].Cmd = Empty & (Cache[i].State = I | Cache[i].State = S)
  ==>
    Chan1[i].Cmd := ReqE;
  end;

  -- An idle home takes a request into service and notes who has a copy.

  rule "RecvReqS"
    CurCmd = Empty & Chan1[i].Cmd = ReqS
  ==>
    CurCmd := ReqS;
    CurPtr := i;
    Chan1[i].Cmd := Empty;
    for j: NODE do InvSet[j] := ShrSet[j]; end;
  end;

  rule "RecvReqE"
    CurCmd = Empty & Chan1[i].Cmd = ReqE
  ==>
    CurCmd := ReqE;
    CurPtr := i;
    Chan1[i].Cmd := Empty;
    for j: NODE do InvSet[j] := ShrSet[j]; end;
  end;

  -- The home calls copies back where they are in the way: every copy for an
  -- exclusive request, only an exclusive copy for a shared one.

  rule "SendInv"
    Chan2[i].Cmd = Empty & InvSet[i] &
    (CurCmd = ReqE | (CurCmd = ReqS & ExGntd))
  ==>
    Chan2[i].Cmd := Inv;
    InvSet[i] := false;
  end;

  -- The client gives up its copy; only the owner returns data.

  rule "SendInvAck"
    Chan2[i].Cmd = Inv & Chan3[i].Cmd = Empty
  ==>
    Chan2[i].Cmd := Empty;
    Chan3[i].Cmd := InvAck;
    if Cache[i].State = E then Chan3[i].Data := Cache[i].Data; end;
    Cache[i].State := I;
    undefine Cache[i].Data;
  end;

  rule "RecvInvAck"
    Chan3[i].Cmd = InvAck & CurCmd != Empty
  ==>
    Chan3[i].Cmd := Empty;
    ShrSet[i] := false;
    if ExGntd then
      ExGntd := false;
      MemData := Chan3[i].Data;
      undefine Chan3[i].Data;
    end;
  end;

  -- The home grants the request in service and is idle again.

  rule "SendGntS"
    CurCmd = ReqS & CurPtr = i & Chan2[i].Cmd = Empty & !ExGntd
  ==>
    Chan2[i].Cmd := GntS;
    Chan2[i].Data := MemData;
    ShrSet[i] := true;
    CurCmd := Empty;
    undefine CurPtr;
  end;

  rule "SendGntE"
    CurCmd = ReqE & CurPtr = i & Chan2[i].Cmd = Empty & !ExGntd &
    (forall j: NODE do !ShrSet[j] end)
  ==>
    Chan2[i].Cmd := GntE;
    Chan2[i].Data := MemData;
    ShrSet[i] := true;
    ExGntd := true;
    CurCmd := Empty;
    undefine CurPtr;
  end;

  -- The client installs what it was granted.

  rule "RecvGntS"
    Chan2[i].Cmd = GntS
  ==>
    Cache[i].State := S;
    Cache[i].Data := Chan2[i].Data;
    Chan2[i].Cmd := Empty;
    undefine Chan2[i].Data;
  end;

  rule "RecvGntE"
    Chan2[i].Cmd = GntE
  ==>
    Cache[i].State := E;
    Cache[i].Data := Chan2[i].Data;
    Chan2[i].Cmd := Empty;
    undefine Chan2[i].Data;
  end;

end;

-- An exclusive copy is the only copy.
invariant "ctrl"
  forall i: NODE do forall j: NODE do
    i != j & Cache[i].State = E -> Cache[j].State = I
  end end;

-- Memory is current unless a copy is exclusive; every copy is always current.
invariant "data"
  (!ExGntd -> MemData = AuxData) &
  forall i: NODE do Cache[i].State != I -> Cache[i].Data = AuxData end;
