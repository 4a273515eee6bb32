import { rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeMessage, encodeMessage } from '@portolan/dns/message.ts';
import { parseName, ROOT, toKey } from '@portolan/dns/name.ts';
import { presentRecord } from '@portolan/dns/present.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import { makeQuery, QUERY_HEADER } from '@portolan/kernel/chain/testing/queries.ts';
import { composeRecords } from '@portolan/kernel/records/cluster-composer.ts';
import { TableReader } from '@portolan/kernel/table/reader.ts';
import { DEFAULT_VIEW, VERDICT } from '@portolan/kernel/table/types.ts';
import { TableWriter } from '@portolan/kernel/table/writer.ts';
import { describe, expect, it, vi } from 'vitest';
import { Hosts } from './hosts.ts';
import type { HostsOptions } from './options.ts';

const passed: Answer = { kind: 'refused' };
const key = (name: string) => toKey(parseName(name));

const OPTIONS: HostsOptions = {
  path: '/nonexistent',
  zones: [ROOT],
  inline: [],
  ttl: 60,
  hasReverse: true,
  reload: 5000,
  fallthrough: [],
  fallsThroughUnsupported: false,
};

class Subject {
  readonly clock = new ManualClock();
  readonly metrics = new MetricRegistry();
  readonly log = silentLog;
  readonly readTtl = undefined;
  readonly table = new TableWriter({
    readers: 1,
    reservation: 2 ** 22,
    cacheOctets: 2 ** 20,
    cacheEntries: 0,
  });
  readonly hosts: Hosts;

  constructor(options: Partial<HostsOptions>) {
    this.hosts = new Hosts({ ...OPTIONS, ...options }, this);
  }

  /** The answer of a reader; undefined if it leaves the question to the chain. */
  askTable(name: string, type: string): string | undefined {
    const { publication } = this.hosts;
    const view = this.table.viewSettings(DEFAULT_VIEW);
    this.table.changeView(DEFAULT_VIEW, { ...view, publications: [publication], rotatesAddresses: false });
    const { question } = makeQuery(name, type);
    const asked = { header: QUERY_HEADER, answers: [], authorities: [], additionals: [], edns: undefined };
    const octets = new Uint8Array(4096);
    const packet = encodeMessage({ ...asked, questions: [question] });
    octets.set(packet);
    const length = new TableReader(this.table.memory, 0, undefined, composeRecords).answer(
      octets,
      0,
      packet.length,
      octets.length,
      'tcp',
    );
    if (length === VERDICT.ASK) return undefined;
    const { answers, authorities, header } = decodeMessage(octets.slice(0, length));
    expect([header.rcode, header.authoritative, authorities]).toEqual([0, true, []]);
    return answers.map((record) => presentRecord({ ...record, name: toKey(record.name) })).join(' | ');
  }

  /** `passed`, `servfail`, or the records. */
  async ask(name: string, type = 'A'): Promise<string> {
    const { handler } = this.hosts;
    const query = makeQuery(name, type);
    const answer = await handler.handle(query, () => passed);
    const isStated = handler.questions.includes(query.key, query.question.type);
    if (answer !== passed) expect(isStated, 'what is answered is stated').toBe(true);
    if (answer === passed) return 'passed';
    if (answer.kind !== 'message') return answer.kind;
    return answer.answers.map(presentRecord).join(' | ');
  }
}

async function reading(text: string, options: Partial<HostsOptions> = {}): Promise<Subject> {
  const folder = await makeTemporaryFolder();
  const subject = new Subject({ path: await folder.write('hosts', text), ...options });
  await subject.hosts.start();
  return subject;
}

const TEXT = `192.0.2.1 a.example b.example # a comment
192.0.2.2\ta.example
2001:db8::1 a.example
::ffff:192.0.2.4 mapped.example
fe80::1%eth0 scoped.example
not-an-address bad.example
192.0.2.5
192.0.2.7 *.wild.example
192.0.2.8 x.wild.example
192.0.2.9 not..a.name UPPER.Example.
`;

describe('hosts', () => {
  it.each([
    ['A.example.', 'A', 'a.example. 60 IN A 192.0.2.1 | a.example. 60 IN A 192.0.2.2'],
    ['a.example.', 'AAAA', 'a.example. 60 IN AAAA 2001:db8::1'],
    ['b.example.', 'AAAA', ''],
    ['b.example.', 'TXT', ''],
    ['upper.example.', 'A', 'upper.example. 60 IN A 192.0.2.9'],
    ['mapped.example.', 'A', 'mapped.example. 60 IN A 192.0.2.4'],
    ['scoped.example.', 'AAAA', 'scoped.example. 60 IN AAAA fe80::1'],
    ['y.wild.example.', 'A', 'y.wild.example. 60 IN A 192.0.2.7'],
    ['x.wild.example.', 'A', 'x.wild.example. 60 IN A 192.0.2.8'],
    ['wild.example.', 'A', 'servfail'],
    ['a.y.wild.example.', 'A', 'servfail'],
    ['bad.example.', 'A', 'servfail'],
    [
      '1.2.0.192.in-addr.arpa.',
      'PTR',
      '1.2.0.192.in-addr.arpa. 60 IN PTR a.example. | 1.2.0.192.in-addr.arpa. 60 IN PTR b.example.',
    ],
    ['7.2.0.192.in-addr.arpa.', 'PTR', 'passed'],
    ['1.2.0.192.in-addr.arpa.', 'A', 'servfail'],
  ])('answers %s %s, in the table as in the chain', async (name, type, said) => {
    const subject = await reading(TEXT);
    expect(await subject.ask(name, type)).toBe(said);
    const fromTable = subject.askTable(name, type);
    const isByTable = /^(?:A|AAAA|PTR)$/.test(type) && !/^(?:servfail|passed)$/.test(said) && name[0] !== 'y';
    expect(fromTable).toBe(isByTable ? said : undefined);
  });

  it('leaves names that fall through to the publications behind', async () => {
    const subject = await reading(TEXT, { fallthrough: [ROOT] });
    expect(subject.askTable('a.example.', 'A')).toContain('192.0.2.1');
    expect(subject.askTable('none.example.', 'A')).toBeUndefined();
    expect(subject.askTable('y.wild.example.', 'A')).toBeUndefined();
  });

  it('lets missing names pass where they fall through, and other types where it is told so', async () => {
    const subject = await reading(TEXT, { fallthrough: [key('example.')] });
    expect(await subject.ask('none.example.')).toBe('passed');
    expect(await subject.ask('none.test.')).toBe('servfail');
    expect(await subject.ask('b.example.', 'TXT')).toBe('');
    const unsupported = await reading(TEXT, { fallthrough: [ROOT], fallsThroughUnsupported: true });
    expect(await unsupported.ask('b.example.', 'TXT')).toBe('passed');
    expect(await unsupported.ask('b.example.', 'AAAA')).toBe('');
  });

  it('leaves names of other zones alone, but not the names of addresses', async () => {
    const subject = await reading('192.0.2.1 a.example\n192.0.2.2 a.test\n', { zones: [key('example.')] });
    expect(await subject.ask('a.test.')).toBe('passed');
    expect(await subject.ask('2.2.0.192.in-addr.arpa.', 'PTR')).toBe('passed');
    expect(await subject.ask('1.2.0.192.in-addr.arpa.', 'PTR')).toContain('a.example.');
  });

  it('adds lines of the configuration behind those of the file', async () => {
    const subject = await reading('192.0.2.3 a.example\n', {
      inline: ['192.0.2.1 a.example'],
      hasReverse: false,
    });
    expect(await subject.ask('a.example.')).toBe(
      'a.example. 60 IN A 192.0.2.3 | a.example. 60 IN A 192.0.2.1',
    );
    expect(await subject.ask('1.2.0.192.in-addr.arpa.', 'PTR')).toBe('passed');
  });

  it('takes over a changed file, and keeps what it knows when the file is gone', async () => {
    const folder = await makeTemporaryFolder();
    const subject = new Subject({ path: join(folder.path, 'hosts'), fallthrough: [ROOT] });
    await subject.hosts.start();
    expect(await subject.ask('a.example.')).toBe('passed');
    await folder.write('hosts', '192.0.2.1 a.example\n');
    await tick(subject, '1');
    expect(await subject.metrics.render()).toContain('coredns_hosts_entries{hostsfile=');
    await folder.write('hosts', '192.0.2.22 a.example\n');
    await tick(subject, '22');
    expect(subject.table.statistics().awaitingReaders, 'no former list stays').toBe(0);
    await rm(join(folder.path, 'hosts'));
    subject.clock.advance(OPTIONS.reload);
    expect(await subject.ask('a.example.')).toContain('192.0.2.22');
    await subject.hosts.stop();
    expect(subject.table.statistics()).toMatchObject({ recordOctets: 0, awaitingReaders: 0 });
  });

  it.each([0, 3_600_000])(
    'reads a file again whose reported contents came back, reload %d',
    async (reload) => {
      const { subject, path } = await startWhile(
        (file) => writeFileSync(file, '192.0.2.2 a.example\n'),
        reload,
      );
      writeFileSync(path, TEXT);
      await waitUntil('the contents', () => subject.askTable('b.example.', 'A') !== undefined, {
        step: () => subject.clock.advance(100),
      });
    },
  );

  it('gives up a file that it does not follow after some tries', async () => {
    const { subject } = await startWhile((file) => rmSync(file), 0);
    expect(subject.clock.pending).toBe(1);
    await waitUntil('no more tries', () => subject.clock.pending === 0, {
      step: () => subject.clock.advance(1),
    });
  });

  it('tries no more once it is stopped', async () => {
    const { subject } = await startWhile((file) => rmSync(file), 0);
    await subject.hosts.stop();
    expect(subject.clock.pending).toBe(0);
  });
});

/** @param change what happens to the file after its report, before it is read */
async function startWhile(change: (file: string) => void, reload: number) {
  const folder = await makeTemporaryFolder();
  const path = await folder.write('hosts', TEXT);
  const subject = new Subject({ path, reload });
  vi.spyOn(subject.clock, 'monotonic').mockImplementationOnce(() => {
    change(path);
    return 0;
  });
  await subject.hosts.start();
  return { subject, path };
}

/** Lets time pass until a.example. has another address. */
async function tick(subject: Subject, last: string): Promise<void> {
  let said = '';
  await waitUntil(`192.0.2.${last}`, () => said.endsWith(` 192.0.2.${last}`), {
    step: () => {
      subject.clock.advance(OPTIONS.reload);
      void subject.ask('a.example.').then((answer) => {
        said = answer;
      });
    },
  });
}
