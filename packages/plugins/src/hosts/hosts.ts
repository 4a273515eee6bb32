/**
 * Answers names and addresses from a hosts file and from lines in the configuration, and follows changes of the file.
 */
import { encodeName, ROOT } from '@portolan/dns/name.ts';
import { isWithinZone } from '@portolan/dns/name-text.ts';
import { CLASS, type NameKey, type RecordData, TYPE, type WireName } from '@portolan/dns/types.ts';
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import { ItemGuard } from '@portolan/kernel/base/item-guard.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import { TimeSlice } from '@portolan/kernel/base/time-slice.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Handler, Next } from '@portolan/kernel/chain/handler.ts';
import { isWithinAny, type Match } from '@portolan/kernel/chain/match.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import { EMPTY_ANSWER } from '@portolan/kernel/chain/whole-answer.ts';
import { TableFullError } from '@portolan/kernel/table/arena.ts';
import type { PublicationId } from '@portolan/kernel/table/types.ts';
import type { TableWriter } from '@portolan/kernel/table/writer.ts';
import type { HostsVisitor } from '@portolan/sources/hosts/hosts-manner.ts';
import { HostsReader } from '@portolan/sources/hosts/hosts-reader.ts';
import { HostsSource } from '@portolan/sources/hosts/hosts-source.ts';
import { ParseWarningReport } from '@portolan/sources/hosts/parse-warning-report.ts';
import { readHostsFiles } from '@portolan/sources/hosts/read-hosts-files.ts';
import { LocalPublication } from '@portolan/sources/local/local-publication.ts';
import { LOCAL_OUTCOME } from '@portolan/sources/local/outcome.ts';
import { HostLines } from './host-lines.ts';
import { COREDNS_HOSTS } from './hosts-manner.ts';
import type { HostsOptions } from './options.ts';
import { PublishedHosts } from './published-hosts.ts';

export interface HostsDependencies {
  readonly table: TableWriter;
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
  readonly log: Log;
  /** Seconds with which readers give names. Default: that of the options. */
  readonly readTtl: number | undefined;
}

/** Octets of a long line, to size the index of names: growing costs less than shrinking. */
const LINE_OCTETS = 64;
/** The first delay before reading a file again that changed during the read. It doubles with each try. */
const RETRY_MILLISECONDS = 200;
const MAX_DOUBLINGS = 5;
/** Tries for a file that is not followed. */
const MAX_TRIES = 5;

export class Hosts {
  readonly handler: Handler;
  readonly #options: HostsOptions;
  readonly #guard: ItemGuard;
  readonly #warnings: ParseWarningReport;
  readonly #dependencies: HostsDependencies;
  readonly #zones: ReadonlySet<NameKey>;
  readonly #zoneNames: readonly WireName[];
  readonly #fallthrough: ReadonlySet<NameKey>;
  readonly #source: HostsSource;
  readonly #publication: LocalPublication;
  #published: PublishedHosts;
  #hosts: HostLines;
  /** Whether the file has changed since it was read last. */
  #isStale = true;
  #reading: Promise<void> | undefined;
  #isStopped = false;
  #retry: Timer | undefined;
  /** Reads in a row in which the file did not match its report. */
  #tries = 0;

  constructor(options: HostsOptions, dependencies: HostsDependencies) {
    this.#options = options;
    const { clock, log, table } = dependencies;
    this.#guard = new ItemGuard({ source: 'hosts', clock, log });
    this.#warnings = new ParseWarningReport(log, this.#guard);
    this.#dependencies = dependencies;
    this.#zones = new Set(options.zones);
    this.#zoneNames = options.zones.map(encodeName);
    this.#fallthrough = new Set(options.fallthrough);
    this.#publication = new LocalPublication(table, log);
    this.#hosts = this.#makeLines(0);
    this.#published = new PublishedHosts(this.#hosts, { ...options, zones: [] });
    this.#source = new HostsSource({
      paths: [options.path],
      isHostsFile: (name) => COREDNS_HOSTS.isHostsFile(name),
      period: options.reload,
      isExpected: false,
      clock,
      log,
      onChange: () => void this.#renew(),
    });
    this.handler = {
      name: 'hosts',
      role: 'publisher',
      publication: this.#publication.id,
      answers: 'unchanged',
      deniesUnknown: !options.zones.every((zone) => isWithinAny(zone, this.#fallthrough)),
      keepsTtls: () => dependencies.readTtl !== undefined,
      questions: {
        includes: (name, type) => this.#concerns(name, type),
        matches: () => MATCHES,
      },
      handle: (query, next) => this.#handle(query, next),
    };
  }

  /** Holds the names in the table. */
  get publication(): PublicationId {
    return this.#publication.id;
  }

  /** Reads the file. It may be missing, now or later: the names of its last version then stay. */
  async start(): Promise<void> {
    await this.#source.start();
    await this.#renew();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#source.stop();
    this.#retry?.cancel();
    await this.#reading;
    await this.#inSlices(this.#dependencies.table.dropPublication(this.#publication.id));
    this.#retire(this.#hosts);
  }

  /** Gives the memory of names back that readers cannot find any more. */
  #retire(hosts: HostLines): void {
    hosts.names.retire();
    this.#dependencies.table.collect();
  }

  /**
   * Schedules another read of a file that did not match its report. No report may follow: its former contents may be back, or it
   * could not be opened for a moment.
   */
  #renewLater(): void {
    if (this.#isStopped || (this.#options.reload === 0 && this.#tries === MAX_TRIES)) return;
    const delay = RETRY_MILLISECONDS * 2 ** Math.min(this.#tries, MAX_DOUBLINGS);
    this.#tries += 1;
    this.#retry?.cancel();
    this.#retry = this.#dependencies.clock.after(delay, () => {
      this.#source.look();
      void this.#renew();
    });
  }

  /** Reads the file, and once more if it changes meanwhile. */
  async #renew(): Promise<void> {
    this.#isStale = true;
    this.#reading ??= this.#readWhileStale().finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
  }

  async #readWhileStale(): Promise<void> {
    while (this.#isStale && !this.#isStopped) {
      this.#isStale = false;
      await this.#inSlices(this.#read());
    }
  }

  *#read(): Generator<void, void> {
    const files = this.#source.files();
    // The names of a file that is gone stay.
    if (files.length === 0 && this.#hosts.names.size > 0) return;
    this.#dependencies.table.collect();
    const hosts = this.#makeLines(files.reduce((sum, { size }) => sum + size, 0) / LINE_OCTETS);
    const isRead = yield* this.#readInto(hosts, files);
    const published = new PublishedHosts(hosts, { ...this.#options, ttl: this.#ttl });
    const changed = isRead
      ? yield* this.#publication.replace(this.#published, published, hosts.names)
      : undefined;
    if (changed === undefined) {
      this.#retire(hosts);
      return;
    }
    const former = this.#hosts;
    this.#published = published;
    this.#hosts = hosts;
    this.#dependencies.table.publicationChanged(this.#publication.id);
    this.#retire(former);
    if (files.length > 0) this.#count();
  }

  /** @returns false if there is nothing to show now */
  *#readInto(hosts: HostLines, files: ReturnType<HostsSource['files']>): Generator<void, boolean> {
    const { path } = this.#options;
    const { names } = hosts;
    this.#warnings.begin(files);
    try {
      const isCurrent = yield* readHostsFiles({
        files,
        manner: COREDNS_HOSTS,
        guard: this.#guard,
        onWarning: (file, warning) => this.#warnings.add(file, warning),
        begin: () => this.#take(hosts, names.addOrigin({ ttl: this.#ttl, file: path })),
      });
      if (isCurrent) this.#tries = 0;
      else this.#renewLater();
      if (!isCurrent && this.#hosts.names.size > 0) return false;
      this.#warnings.end();
      this.#readInline(hosts);
      yield* hosts.finish();
      return true;
    } catch (error) {
      if (!(error instanceof TableFullError)) throw error;
      this.#publication.reportFull();
      return false;
    }
  }

  #readInline(hosts: HostLines): void {
    const origin = hosts.names.addOrigin({ ttl: this.#ttl, file: undefined });
    const reader = new HostsReader(COREDNS_HOSTS, {
      host: this.#take(hosts, origin),
      warning: () => {},
      line: (_line, read) => read(),
    });
    reader.push(Buffer.from(this.#options.inline.join('\n')));
    reader.end();
  }

  /** Adds the names that are within the zones. @param text the number of their origin */
  #take(hosts: HostLines, text: number): HostsVisitor['host'] {
    const isWhole = this.#zones.has(ROOT);
    return (address, name) => {
      if (isWhole || this.#zoneNames.some((zone) => isWithinZone(name, 0, name.length, zone)))
        hosts.add(name, address, text);
    };
  }

  #makeLines(expected: number): HostLines {
    const { hasReverse } = this.#options;
    const rules = { outcome: LOCAL_OUTCOME, answersBoth: true, keepsRepeated: true } as const;
    return new HostLines(
      this.#publication.makeHostNames({ ...rules, leadsTo: hasReverse ? 'all' : 'none' }, expected),
    );
  }

  get #ttl(): number {
    return this.#dependencies.readTtl ?? this.#options.ttl;
  }

  /** Pauses between the steps, so that a long file does not delay queries. */
  async #inSlices(steps: Generator<void, unknown>): Promise<void> {
    for (const slice = new TimeSlice(this.#dependencies.clock); steps.next().done !== true; )
      if (slice.isOver) await slice.next();
  }

  #count(): void {
    const { metrics, clock } = this.#dependencies;
    metrics
      .gauge('coredns_hosts_entries', 'The combined number of entries in hosts and Corefile.', ['hostsfile'])
      .set({ hostsfile: this.#options.path }, this.#hosts.names.entries);
    metrics
      .gauge('coredns_hosts_reload_timestamp_seconds', 'The timestamp of the last reload of hosts file.')
      .set({}, clock.now() / 1000);
  }

  #handle(query: Query, next: Next): Answer | Promise<Answer> {
    const { key, question } = query;
    const { type } = question;
    if (type === TYPE.PTR) {
      const pointers = this.#hosts.findData(key, type);
      return pointers.length === 0 ? next(query) : this.#answer(key, pointers);
    }
    if (!isWithinAny(key, this.#zones)) return next(query);
    const passesType = this.#options.fallsThroughUnsupported && type !== TYPE.A && type !== TYPE.AAAA;
    if (passesType && isWithinAny(key, this.#fallthrough)) return next(query);
    if (this.#hosts.isKnown(key)) return this.#answer(key, this.#hosts.findData(key, type));
    return isWithinAny(key, this.#fallthrough) ? next(query) : { kind: 'servfail' };
  }

  /** Empty data: the name is known, but has no records of this type. */
  #answer(name: NameKey, data: readonly RecordData[]): Answer {
    const answers = data.map((each) => ({ name, class: CLASS.IN, ttl: this.#options.ttl, data: each }));
    return { ...EMPTY_ANSWER, authoritative: true, answers };
  }

  #concerns(name: NameKey, type: number): boolean {
    if (type === TYPE.PTR) return this.#hosts.findNames(name).length > 0;
    if (!isWithinAny(name, this.#zones)) return false;
    return !isWithinAny(name, this.#fallthrough) || this.#hosts.isKnown(name);
  }
}

/** Any name, because the known names change with the file. */
const MATCHES: readonly Match[] = [{ name: { kind: 'any' }, types: 'all' }];
