import { parseName } from '@portolan/dns/name.ts';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../base/testing/manual-clock.ts';
import { RecordingLog } from '../base/testing/recording-log.ts';
import { NamedServers, type ResolvedName } from './named-servers.ts';

const NAME = parseName('dns.example');

function follow(answers: (ResolvedName | Error)[]) {
  const clock = new ManualClock();
  const log = new RecordingLog();
  let changes = 0;
  let asked = 0;
  const servers = new NamedServers({
    resolveName: async () => {
      asked += 1;
      const answer = answers.shift() ?? new Error('nothing more');
      if (answer instanceof Error) throw answer;
      return answer;
    },
    clock,
    log,
    onChange: () => {
      changes += 1;
    },
  });
  const pass = async (milliseconds: number) => {
    clock.advance(milliseconds);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { clock, log, servers, pass, seen: () => [servers.findAddresses(NAME).join(' '), changes, asked] };
}

describe('servers given by name', () => {
  it('are looked up, and again when their time is over', async () => {
    const { servers, pass, seen } = follow([
      { addresses: ['192.0.2.2', '192.0.2.1'], ttl: 60 },
      { addresses: ['192.0.2.1', '192.0.2.2'], ttl: 0 },
      { addresses: ['192.0.2.3'], ttl: 99_999 },
    ]);
    servers.follow(new Set([NAME]));
    expect(seen()).toEqual(['', 0, 0]);
    await pass(0);
    expect(seen()).toEqual(['192.0.2.1 192.0.2.2', 1, 1]);
    await pass(59_999);
    expect(seen()).toEqual(['192.0.2.1 192.0.2.2', 1, 1]);
    await pass(1);
    expect(seen()).toEqual(['192.0.2.1 192.0.2.2', 1, 2]);
    // At the earliest after 5 s, at the latest after an hour.
    await pass(5000);
    expect(seen()).toEqual(['192.0.2.3', 2, 3]);
    await pass(3_600_000);
    expect(seen()).toEqual(['192.0.2.3', 2, 4]);
  });

  it('keep their addresses when a look-up fails, which is tried again and logged', async () => {
    const { servers, pass, seen, log } = follow([
      { addresses: ['192.0.2.1'], ttl: 60 },
      new Error('SERVFAIL'),
      { addresses: [], ttl: 60 },
    ]);
    servers.follow(new Set([NAME]));
    await pass(0);
    await pass(60_000);
    expect(seen()).toEqual(['192.0.2.1', 1, 2]);
    await pass(5000);
    expect(seen()).toEqual(['192.0.2.1', 1, 3]);
    expect(log.records.map(({ level, fields }) => [level, fields['reason']])).toEqual([
      ['warn', 'SERVFAIL'],
      ['warn', 'it has no address'],
    ]);
  });

  it('are forgotten when no rule needs them, a look-up under way included', async () => {
    const { clock, servers, pass, seen } = follow([{ addresses: ['192.0.2.1'], ttl: 60 }]);
    servers.follow(new Set([NAME]));
    servers.follow(new Set());
    await pass(0);
    expect(seen()).toEqual(['', 0, 1]);
    expect(clock.pending).toBe(0);
  });
});
