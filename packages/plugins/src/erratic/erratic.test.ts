import { presentRecord } from '@portolan/dns/present.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import { makeQuery } from '@portolan/kernel/chain/testing/queries.ts';
import { describe, expect, it } from 'vitest';
import { Erratic } from './erratic.ts';
import type { ErraticOptions } from './options.ts';

const NONE: ErraticOptions = { drop: 0, truncate: 0, delay: 0, duration: 0, isLarge: false };

function make(options: Partial<ErraticOptions>) {
  const clock = new ManualClock();
  const erratic = new Erratic({ ...NONE, ...options }, clock);
  const fail = (): Answer => {
    throw new Error('no other handler is asked');
  };
  const ask = async (type = 'A', name = 'a.example.') => erratic.handler.handle(makeQuery(name, type), fail);
  return { erratic, ask, clock };
}

function told(answer: Answer): readonly string[] {
  if (answer.kind !== 'message') return [answer.kind];
  return [...answer.answers.map(presentRecord), ...(answer.truncated ? ['truncated'] : [])];
}

async function askTimes(times: number, options: Partial<ErraticOptions>): Promise<readonly string[]> {
  const { ask } = make(options);
  const all: string[] = [];
  for (let number = 0; number < times; number += 1) all.push(told(await ask()).at(-1) ?? '');
  return all;
}

const RECORD = 'a.example. 0 IN A 192.0.2.53';

describe('erratic', () => {
  it('answers for addresses, and SERVFAIL for all other types', async () => {
    const { ask } = make({});
    expect(await ask()).toMatchObject({ authoritative: true, rcode: 0 });
    expect(told(await ask())).toEqual([RECORD]);
    expect(told(await ask('AAAA'))).toEqual(['a.example. 0 IN AAAA 2001:db8::53']);
    expect(told(await ask('TXT'))).toEqual(['servfail']);
    expect(told(await make({ isLarge: true }).ask())).toEqual(Array(30).fill(RECORD));
  });

  it('transfers a small zone, whose end is missing where it is cut', async () => {
    const whole = told(await make({}).ask('AXFR'));
    expect(whole).toHaveLength(6);
    expect([whole[1], whole[3]]).toEqual([
      'a.example. 0 IN NS b.a.example.',
      'a.a.example. 0 IN AAAA 2001:bd8::53',
    ]);
    expect(whole[5]).toBe(whole[0]);
    expect(told(await make({ truncate: 2 }).ask('AXFR'))).toEqual(whole.slice(0, 5));
    const longest = `${[63, 63, 63, 61].map((octets) => 'a'.repeat(octets)).join('.')}.`;
    for (const name of ['.', longest]) expect(told(await make({}).ask('AXFR', name))).toEqual(['drop']);
  });

  it('drops the first query, and each whose number the amount divides', async () => {
    expect(await askTimes(6, { drop: 3 })).toEqual(['drop', RECORD, RECORD, 'drop', RECORD, RECORD]);
  });

  it('truncates by bits, as CoreDNS does', async () => {
    expect(await askTimes(4, { truncate: 2 })).toEqual(['truncated', 'truncated', RECORD, RECORD]);
  });

  it('answers late, without holding up others', async () => {
    const { ask, clock } = make({ delay: 2, duration: 50 });
    const order: string[] = [];
    const late = ask().then(() => order.push('late'));
    await ask().then(() => order.push('at once'));
    clock.advance(50);
    await late;
    expect(order).toEqual(['at once', 'late']);
  });

  it('is ready from the third query to the fourth', async () => {
    const { erratic, ask } = make({});
    const states = [erratic.isReady()];
    for (let number = 0; number < 5; number += 1) {
      await ask();
      states.push(erratic.isReady());
    }
    expect(states).toEqual([false, false, false, true, true, false]);
  });
});
