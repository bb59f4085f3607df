/* German's directory protocol with data, for SPIN 6.5.2.
 *
 * The same protocol as german.m, rule by rule and name by name (Chou, Mannava
 * and Park, FMCAD 2004); README.md has the rules as a table, the counts that
 * this file must give, and how to run it.
 *
 * Each instance of a Murphi rule is one d_step, so that one firing is one
 * transition. All are options of one loop in one process, so that stored states
 * differ in the protocol's fields only. The exception is the state before the
 * loop, where the value of memory is still to be chosen: SPIN stores it, and
 * takes one transition from it to each of the protocol's two start states.
 *
 * UNDEFINED is 0: data values count from 1, and so do the nodes in CurPtr.
 */

#ifndef NODES
#define NODES 4
#endif

#define UNDEFINED 0

/* EACH_NODE(f, op) is f(0) op f(1) op ... for all nodes. */
#if NODES == 2
#define EACH_NODE(f, op) (f(0) op f(1))
#elif NODES == 3
#define EACH_NODE(f, op) (f(0) op f(1) op f(2))
#elif NODES == 4
#define EACH_NODE(f, op) (f(0) op f(1) op f(2) op f(3))
#else
#error "NODES must be 2, 3 or 4"
#endif

mtype = { I, S, E };                                    /* cache states */
mtype = { Empty, ReqS, ReqE, Inv, InvAck, GntS, GntE }; /* messages */

typedef CACHE {
  mtype State = I;
  byte Data = UNDEFINED     /* UNDEFINED iff State == I */
}

typedef MSG {
  mtype Cmd = Empty;        /* Empty: no message in this channel */
  byte Data = UNDEFINED     /* defined iff the message carries data */
}

CACHE Cache[NODES];
MSG Chan1[NODES];           /* client to home: ReqS, ReqE; never data */
MSG Chan2[NODES];           /* home to client: Inv; GntS, GntE with data */
MSG Chan3[NODES];           /* client to home: InvAck, with data from E */

bool InvSet[NODES];         /* clients still to be sent an Inv */
bool ShrSet[NODES];         /* clients holding, or being granted, a copy */
bool ExGntd;                /* the copy in ShrSet is exclusive */
mtype CurCmd = Empty;       /* request in service; Empty when idle */
byte CurPtr = UNDEFINED;    /* its client, plus 1; UNDEFINED when idle */
byte MemData = UNDEFINED;   /* the home's memory */
byte AuxData = UNDEFINED;   /* auxiliary: the last value written */

hidden byte j;              /* loop counter within a d_step; not in the state */

/* ctrl: an exclusive copy is the only copy. */
#define NOT_EXCLUSIVE(i) (Cache[i].State != E)
#define HAS_COPY(i) (Cache[i].State != I)
#define CTRL (EACH_NODE(NOT_EXCLUSIVE, &&) || EACH_NODE(HAS_COPY, +) == 1)

/* data: memory is current unless a copy is exclusive; every copy is always
 * current. */
#define COPY_CURRENT(i) (Cache[i].State == I || Cache[i].Data == AuxData)
#define DATA ((ExGntd || MemData == AuxData) && EACH_NODE(COPY_CURRENT, &&))

#define NOT_SHARER(i) (!ShrSet[i])
#define NO_SHARERS EACH_NODE(NOT_SHARER, &&)

inline start(d) {
  MemData = d;
  AuxData = d
}

inline store(i, d) {
  Cache[i].Data = d;
  AuxData = d
}

/* Takes the request in Chan1[i] into service and notes who has a copy. (The
 * loop is not last, since SPIN lets no loop exit be the end of a d_step.) */
inline receive_request(i) {
  for (j : 0 .. NODES - 1) {
    InvSet[j] = ShrSet[j]
  }
  CurCmd = Chan1[i].Cmd;
  CurPtr = i + 1;
  Chan1[i].Cmd = Empty
}

/* Grants the request in service with message gnt; the home is idle again. */
inline send_grant(i, gnt) {
  Chan2[i].Cmd = gnt;
  Chan2[i].Data = MemData;
  ShrSet[i] = true;
  CurCmd = Empty;
  CurPtr = UNDEFINED
}

/* Installs the granted copy in the cache of client i. */
inline receive_grant(i, state) {
  Cache[i].State = state;
  Cache[i].Data = Chan2[i].Data;
  Chan2[i].Cmd = Empty;
  Chan2[i].Data = UNDEFINED
}

inline rules(i) {
  if
  /* Store: the owner writes any value, the present one included. */
  :: d_step { Cache[i].State == E -> store(i, 1) }
  :: d_step { Cache[i].State == E -> store(i, 2) }

  /* SendReqS, SendReqE: a client asks, one request under way at a time. */
  :: d_step { Chan1[i].Cmd == Empty && Cache[i].State == I ->
       Chan1[i].Cmd = ReqS }
  :: d_step { Chan1[i].Cmd == Empty &&
              (Cache[i].State == I || Cache[i].State == S) ->
       Chan1[i].Cmd = ReqE }

  /* RecvReqS, RecvReqE: an idle home takes a request into service. */
  :: d_step { CurCmd == Empty && Chan1[i].Cmd == ReqS -> receive_request(i) }
  :: d_step { CurCmd == Empty && Chan1[i].Cmd == ReqE -> receive_request(i) }

  /* SendInv: the home calls copies back where they are in the way: every copy
   * for an exclusive request, only an exclusive copy for a shared one. */
  :: d_step { Chan2[i].Cmd == Empty && InvSet[i] &&
              (CurCmd == ReqE || (CurCmd == ReqS && ExGntd)) ->
       Chan2[i].Cmd = Inv;
       InvSet[i] = false }

  /* SendInvAck: the client gives up its copy; only the owner returns data. */
  :: d_step { Chan2[i].Cmd == Inv && Chan3[i].Cmd == Empty ->
       Chan2[i].Cmd = Empty;
       Chan3[i].Cmd = InvAck;
       if
       :: Cache[i].State == E -> Chan3[i].Data = Cache[i].Data
       :: else
       fi;
       Cache[i].State = I;
       Cache[i].Data = UNDEFINED }

  /* RecvInvAck */
  :: d_step { Chan3[i].Cmd == InvAck && CurCmd != Empty ->
       Chan3[i].Cmd = Empty;
       ShrSet[i] = false;
       if
       :: ExGntd ->
            ExGntd = false;
            MemData = Chan3[i].Data;
            Chan3[i].Data = UNDEFINED
       :: else
       fi }

  /* SendGntS, SendGntE: the home grants the request in service. */
  :: d_step { CurCmd == ReqS && CurPtr == i + 1 && Chan2[i].Cmd == Empty &&
              !ExGntd ->
       send_grant(i, GntS) }
  :: d_step { CurCmd == ReqE && CurPtr == i + 1 && Chan2[i].Cmd == Empty &&
              !ExGntd && NO_SHARERS ->
       send_grant(i, GntE);
       ExGntd = true }

  /* RecvGntS, RecvGntE: the client installs what it was granted. */
  :: d_step { Chan2[i].Cmd == GntS -> receive_grant(i, S) }
  :: d_step { Chan2[i].Cmd == GntE -> receive_grant(i, E) }
  fi
}

active proctype german() {
  if
  :: d_step { start(1) }
  :: d_step { start(2) }
  fi;
  do
  :: rules(0)
  :: rules(1)
#if NODES > 2
  :: rules(2)
#endif
#if NODES > 3
  :: rules(3)
#endif
  /* The properties: looked at once in each state, never enabled if they hold. */
  :: !CTRL -> assert(CTRL)
  :: !DATA -> assert(DATA)
  od
}
