import { RCODE } from '@portolan/dns/types.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import { addresses, alias, denial, makeQuery, told } from '@portolan/kernel/chain/testing/queries.ts';
import { describe, expect, it } from 'vitest';
import { createAliasFollower } from './alias.ts';

/** Follows aliases among these answers, by name; all other names are refused. */
async function follow(name: string, answers: Readonly<Record<string, Answer>>, log = new RecordingLog()) {
  const asked: string[] = [];
  const follower = createAliasFollower(log, new ManualClock());
  const answer = await follower.handle(makeQuery(name), ({ key }) => {
    asked.push(key);
    return answers[key] ?? { kind: 'refused' };
  });
  return { told: told(answer), asked, log };
}

/** A chain of aliases of this length, with an address at its end. */
function row(length: number): Record<string, Answer> {
  const answers: Record<string, Answer> = { [`${length}.`]: addresses(`${length}.`, '10.0.0.1') };
  for (let step = 0; step < length; step += 1) answers[`${step}.`] = alias(`${step}.`, `${step + 1}.`);
  return answers;
}

/** What the server of a target outside says. */
const refusedByServer: Answer = {
  kind: 'forwarded',
  rcode: RCODE.REFUSED,
  authoritative: false,
  truncated: false,
  authenticData: false,
  answers: [],
  authorities: [],
  additionals: [],
  memory: undefined,
};

describe('following aliases', () => {
  it('puts the records of the target behind the alias', async () => {
    const { told: answer, asked } = await follow('a.', {
      'a.': alias('a.', 'B.'),
      'b.': addresses('B.', '10.0.0.1'),
    });
    expect(answer).toEqual(['records', 'a. 30 IN CNAME B.', 'B. 30 IN A 10.0.0.1']);
    expect(asked).toEqual(['a.', 'b.']);
  });

  it('goes eight steps, and no further', async () => {
    expect((await follow('0.', row(8))).told).toHaveLength(1 + 8 + 1);
    const { told: answer, log } = await follow('0.', row(9));
    expect(answer).toHaveLength(1 + 9);
    expect(log.records).toMatchObject([{ level: 'warn', fields: { name: '0.' } }]);
  });

  it('ends a circle with what was found', async () => {
    const circle = { 'a.': alias('a.', 'b.'), 'b.': alias('b.', 'a.') };
    const { told: answer, log } = await follow('a.', circle);
    expect(answer).toEqual(['records', 'a. 30 IN CNAME b.', 'b. 30 IN CNAME a.']);
    expect(log.records).toHaveLength(1);
    expect((await follow('a.', { 'a.': alias('a.', 'a.') })).told).toEqual(['records', 'a. 30 IN CNAME a.']);
    expect((await follow('a.', { 'a.': alias('a.', 'a.', 'nodata') })).told).toEqual(['nodata']);
  });

  it.each([
    ['alias', denial('nodata'), ['nodata', 'a. 30 IN CNAME b.']],
    // RFC 6604 section 3.
    ['alias', denial('nxdomain'), ['nxdomain', 'a. 30 IN CNAME b.']],
    ['alias', { kind: 'refused' }, ['records', 'a. 30 IN CNAME b.']],
    ['alias', refusedByServer, ['records', 'a. 30 IN CNAME b.']],
    ['alias', { kind: 'servfail' }, ['servfail']],
    ['nodata', denial('nodata'), ['nodata']],
    ['nodata', denial('nxdomain'), ['nodata']],
    ['nodata', { kind: 'refused' }, ['nodata']],
    ['nodata', refusedByServer, ['nodata']],
    ['nodata', { kind: 'servfail' }, ['servfail']],
    ['nodata', { kind: 'drop' }, ['drop']],
  ] as const)('to a target without an answer (%s, %j)', async (unanswered, target, expected) => {
    const answers = { 'a.': alias('a.', 'b.', unanswered), 'b.': target as Answer };
    expect((await follow('a.', answers)).told).toEqual(expected);
  });
});
