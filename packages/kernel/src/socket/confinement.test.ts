import { describe, expect, it } from 'vitest';
import { confine, createConfinementFilter } from './confinement.ts';
import { CODE, type Instruction } from './packet-program.ts';
import { SYSTEM_CALLS, type SystemCalls } from './system-calls.ts';

const ALLOWED = 0x7fff_0000;
const REFUSED = 0x0005_0001;
const UNKNOWN_CALL = 0x0005_0026;
const CLONE_THREAD = 0x0001_0000;
/** What libc passes to start a thread, and a process. */
const OF_PTHREAD = 0x003d_0f00;
const OF_FORK = 0x0120_0011;
const OF_SPAWN = 0x0000_4111;

interface Call {
  readonly number: number;
  readonly architecture: number;
  readonly first?: number;
}

/** Runs a filter, as the kernel does. */
function judge(program: readonly Instruction[], { number, architecture, first = 0 }: Call): number {
  const words = new Map([
    [0, number],
    [4, architecture],
    [16, first],
  ]);
  let loaded = 0;
  for (let at = 0; ; at += 1) {
    const instruction = program[at];
    if (instruction === undefined) throw new Error('the program has no end');
    const [code, ifTrue, ifFalse, operand] = instruction;
    if (code === CODE.RETURN) return operand;
    if (code === CODE.LOAD_WORD) loaded = words.get(operand) ?? Number.NaN;
    else at += isMet(code, loaded, operand) ? ifTrue : ifFalse;
  }
}

function isMet(code: number, loaded: number, operand: number): boolean {
  switch (code) {
    case CODE.JUMP_IF_EQUAL:
      return loaded === operand;
    case CODE.JUMP_IF_AT_LEAST:
      return loaded >= operand;
    case CODE.JUMP_IF_ANY_BIT:
      return (loaded & operand) !== 0;
    default:
      throw new Error(`unknown instruction: ${code}`);
  }
}

function makeJudge(calls: SystemCalls) {
  const program = createConfinementFilter(calls);
  return (number: number, first?: number) =>
    judge(program, { number, architecture: calls.architecture, ...(first !== undefined && { first }) });
}

describe.each([...SYSTEM_CALLS])('on %s', (_processor, calls) => {
  const verdict = makeJudge(calls);

  it('no program, no other process', () => {
    for (const number of calls.refused) expect([number, verdict(number)]).toEqual([number, REFUSED]);
  });

  it('all other calls', () => {
    const named = new Set([...calls.refused, ...calls.sockets, calls.clone, calls.clone3]);
    for (let number = 0; number < 600; number += 1)
      if (!named.has(number)) expect([number, verdict(number)]).toEqual([number, ALLOWED]);
  });

  it('threads, but no processes', () => {
    expect(OF_PTHREAD & CLONE_THREAD).not.toBe(0);
    expect(verdict(calls.clone, OF_PTHREAD)).toBe(ALLOWED);
    for (const flags of [OF_FORK, OF_SPAWN, 0]) expect(verdict(calls.clone, flags)).toBe(REFUSED);
    // Libc tries `clone` then.
    expect(verdict(calls.clone3)).toBe(UNKNOWN_CALL);
  });

  it('sockets of UNIX, IPv4, IPv6 and netlink', () => {
    for (const number of calls.sockets)
      for (let family = 0; family < 64; family += 1)
        expect(verdict(number, family)).toBe([1, 2, 10, 16].includes(family) ? ALLOWED : REFUSED);
  });

  it('no call of another interface', () => {
    const program = createConfinementFilter(calls);
    expect(judge(program, { number: 0, architecture: 0x4000_0003 })).toBe(REFUSED);
    if (calls.foreignFrom !== undefined) expect(verdict(calls.foreignFrom + 1)).toBe(REFUSED);
  });
});

it('elsewhere the process keeps its rights', () => {
  expect(confine('riscv64')).toEqual({ reason: 'system calls are not known for processor riscv64' });
});
