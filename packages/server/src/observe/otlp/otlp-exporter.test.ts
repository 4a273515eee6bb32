import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { describe, expect, it } from 'vitest';
import { OtlpExporter, type Post } from './otlp-exporter.ts';
import type { OtlpRecord } from './otlp-message.ts';

const settled = () => new Promise((resolve) => setImmediate(resolve));
const GOOD = { status: 200, retryAfter: undefined };

function exportTo(answer: (body: string) => ReturnType<Post>) {
  const clock = new ManualClock();
  const log = new RecordingLog();
  const bodies: string[] = [];
  const exporter = new OtlpExporter({
    signal: 'logs',
    endpoint: 'http://c.test/v1/logs',
    clock,
    log,
    origin: { resource: { 'service.name': 'portolan' }, version: '1' },
    post: (body) => {
      bodies.push(body);
      return answer(body);
    },
  });
  const add = (count: number) => {
    for (let index = 0; index < count; index += 1) exporter.add(record(`record ${index}`));
  };
  const pass = async (milliseconds: number) => {
    clock.advance(milliseconds);
    await settled();
  };
  const said = () => log.records.map(({ level, message }) => `${level} ${message}`);
  return { exporter, bodies, add, pass, said };
}

function record(body: string): OtlpRecord {
  return { time: 1_700_000_000_000.5, severity: 'WARN', event: 'test', body, attributes: {} };
}

const recordsIn = (body: string): unknown[] => JSON.parse(body).resourceLogs[0].scopeLogs[0].logRecords;

describe('records', () => {
  it('are sent together, once the first has waited a second', async () => {
    const { bodies, add, pass } = exportTo(async () => GOOD);
    add(3);
    await pass(999);
    expect(bodies).toEqual([]);
    await pass(1);
    expect(bodies.map((body) => recordsIn(body).length)).toEqual([3]);
  });

  it('are sent at once when a batch is full', async () => {
    const { bodies, add, pass } = exportTo(async () => GOOD);
    add(513);
    await settled();
    expect(bodies.map((body) => recordsIn(body).length)).toEqual([512]);
    await pass(1_000);
    expect(bodies.map((body) => recordsIn(body).length)).toEqual([512, 1]);
  });

  it('wait in bounded memory while a collector is silent; the rest is dropped and counted', async () => {
    const { exporter, add, bodies } = exportTo(() => new Promise(() => {}));
    add(10_000);
    await settled();
    expect(bodies).toHaveLength(1);
    expect(exporter.dropped).toBe(10_000 - 512 - 2_048);
  });

  it('have the encoding of OTLP', async () => {
    const { exporter, bodies, pass } = exportTo(async () => GOOD);
    exporter.add({
      ...record('answer'),
      attributes: { text: 'a', whole: 3, part: 0.5, flag: true, none: undefined },
    });
    await pass(1_000);
    expect(JSON.parse(bodies[0] ?? '')).toEqual({
      resourceLogs: [
        {
          resource: { attributes: [{ key: 'service.name', value: { stringValue: 'portolan' } }] },
          scopeLogs: [
            {
              scope: { name: 'portolan', version: '1' },
              logRecords: [
                {
                  timeUnixNano: '1700000000000500000',
                  observedTimeUnixNano: '1700000000000500000',
                  severityNumber: 13,
                  severityText: 'WARN',
                  eventName: 'test',
                  body: { stringValue: 'answer' },
                  attributes: [
                    { key: 'text', value: { stringValue: 'a' } },
                    { key: 'whole', value: { intValue: '3' } },
                    { key: 'part', value: { doubleValue: 0.5 } },
                    { key: 'flag', value: { boolValue: true } },
                  ],
                },
              ],
            },
          ],
        },
      ],
    });
  });
});

describe('a collector that fails', () => {
  it('is asked five times, and after pauses that it names', async () => {
    const answers = [503, 429, 502, 504, 503].map((status) => ({
      status,
      retryAfter: undefined as number | undefined,
    }));
    answers[1] = { status: 429, retryAfter: 7 };
    const { exporter, bodies, add, pass, said } = exportTo(async () => answers.shift() ?? GOOD);
    add(1);
    const asked: number[] = [];
    for (const pause of [1_000, 1_000, 7_000, 4_000, 8_000]) {
      await pass(pause - 1);
      await pass(1);
      asked.push(bodies.length);
    }
    expect(asked).toEqual([1, 2, 3, 4, 5]);
    expect(exporter.dropped).toBe(1);
    add(1);
    await pass(1_000);
    expect(said()).toEqual(['warn otlp: cannot export', 'info otlp: exporting again']);
  });

  it('is not asked again after a status that means no', async () => {
    const { exporter, bodies, add, pass } = exportTo(async () => ({ status: 400, retryAfter: undefined }));
    add(2);
    await pass(1_000);
    await pass(60_000);
    expect([bodies.length, exporter.dropped]).toEqual([1, 2]);
  });

  it('does not delay the end for more than two seconds', async () => {
    const { exporter, add, pass } = exportTo(() => new Promise(() => {}));
    add(1);
    let hasEnded = false;
    const ended = exporter.stop().then(() => {
      hasEnded = true;
    });
    await pass(1_999);
    expect(hasEnded).toBe(false);
    await pass(1);
    await ended;
  });
});

it('sends what waits when it stops', async () => {
  const { exporter, bodies, add } = exportTo(async () => GOOD);
  add(2);
  await exporter.stop();
  expect(bodies.map((body) => recordsIn(body).length)).toEqual([2]);
});
