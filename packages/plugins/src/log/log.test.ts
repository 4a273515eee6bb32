import { ROOT } from '@portolan/dns/name.ts';
import { type NameKey, RCODE } from '@portolan/dns/types.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import { addresses, denial, makeQuery } from '@portolan/kernel/chain/testing/queries.ts';
import { EMPTY_ANSWER } from '@portolan/kernel/chain/whole-answer.ts';
import { expect, it } from 'vitest';
import { createLogHandler } from './log.ts';
import type { LogRule } from './options.ts';

/** @param collects whether the block has `metadata` */
async function collectLines(
  rules: readonly LogRule[],
  answers: readonly (readonly [string, Answer])[],
  collects = false,
) {
  const log = new RecordingLog();
  const clock = new ManualClock();
  const { handle } = createLogHandler({ rules }, { clock, queryLog: log, handlerNames: () => [] });
  for (const [name, answer] of answers) {
    const query = makeQuery(name);
    if (collects) query.collectMetadata();
    await handle(query, () => {
      clock.advance(2);
      return answer;
    });
  }
  return log.records.map(({ message }) => message);
}

it('writes what the format names, and leaves what it does not know', async () => {
  const format =
    '{remote}:{port} {>id} "{type} {class} {name} {proto} {>do} {>bufsize}" {rcode} {>rflags} {rsize} {duration}';
  const rule = { zone: ROOT as NameKey, format: `${format} {nosuch} {/label} {`, classes: ['all'] } as const;
  const lines = await collectLines(
    [rule],
    [
      ['Web.example.', addresses('Web.example.', '10.0.0.1')],
      ['web.example.', { kind: 'servfail' }],
      ['web.example.', { kind: 'drop' }],
    ],
  );
  const start = '192.0.2.53:5353 4711 "A IN web.example. udp false 512"';
  expect(lines).toEqual([
    `${start} NOERROR qr,aa,rd 56 0.002s {nosuch} - {`,
    `${start} SERVFAIL qr,rd 29 0.002s {nosuch} - {`,
    `${start} - - 0 0.002s {nosuch} - {`,
  ]);
});

it('takes the first rule whose zone holds the name, and its classes', async () => {
  const rules: readonly LogRule[] = [
    { zone: 'a.' as NameKey, format: 'a {name}', classes: ['denial'] },
    { zone: ROOT as NameKey, format: '. {name}', classes: ['success', 'error'] },
  ];
  const lines = await collectLines(rules, [
    ['x.a.', denial('nxdomain')],
    ['y.a.', addresses('y.a.', '10.0.0.1')],
    ['z.b.', denial('nodata')],
    ['b.', addresses('b.', '10.0.0.1')],
    ['c.', { kind: 'refused' }],
  ]);
  expect(lines).toEqual(['a x.a.', '. b.', '. c.']);
});

it('notes the type and the class of a response', async () => {
  const rule = { zone: ROOT as NameKey, format: '{/log/type} {/log/class}', classes: ['all'] } as const;
  const answers: readonly (readonly [string, Answer])[] = [
    ['a.', addresses('a.', '10.0.0.1')],
    ['b.', denial('nxdomain')],
    ['c.', denial('nodata')],
    ['d.', { ...EMPTY_ANSWER, rcode: RCODE.NXDOMAIN }],
    ['e.', EMPTY_ANSWER],
    ['f.', { kind: 'servfail' }],
    ['g.', { kind: 'refused' }],
    ['h.', { kind: 'drop' }],
  ];
  expect(await collectLines([rule], answers, true)).toEqual([
    'NOERROR success',
    'NXDOMAIN denial',
    'NODATA denial',
    'NXDOMAIN denial',
    'NOERROR success',
    'SERVERERROR error',
    'OTHERERROR error',
    'OTHERERROR error',
  ]);
});
