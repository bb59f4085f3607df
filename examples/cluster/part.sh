#!/bin/sh
# Runs one part of `lockstep conform --matrix`, and keeps a journal of it.
#   part.sh [I N] [-- OPTIONS...]     I, of N parts, from 1 on; without, as the scheduler says
set -eu

if [ $# -ge 2 ] && [ "$1" != -- ]; then
  part=$1 parts=$2
  shift 2
elif [ -n "${SLURM_ARRAY_TASK_ID-}" ]; then
  part=$((SLURM_ARRAY_TASK_ID - ${SLURM_ARRAY_TASK_MIN:-0} + 1)) parts=$SLURM_ARRAY_TASK_COUNT
elif [ -n "${JOB_COMPLETION_INDEX-}" ]; then
  part=$((JOB_COMPLETION_INDEX + 1)) parts=${PARTS:?how many completions the job has}
else
  echo "part.sh: say I N, or run it as an array" >&2
  exit 2
fi
if [ "${1-}" = -- ]; then shift; fi

journals=${JOURNALS:-.}
mkdir -p "$journals"
exec "${LOCKSTEP:-lockstep}" conform --matrix --shard "$part/$parts" --resume "$journals/$part.journal" "$@"
