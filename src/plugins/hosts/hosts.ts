/**
 * Answers names and addresses from a hosts file and from lines in the configuration, and follows changes of the file.
 */
import type { Clock, Timer } from '../../base/clock.ts';
import { ItemFence } from '../../base/item-fence.ts';
import type { Log } from '../../base/log.ts';
import type { MetricRegistry } from '../../base/metrics/registry.ts';
import type { Answer } from '../../chain/answer.ts';
import type { Handler, Next } from '../../chain/handler.ts';
import { isWithinAny, type Match } from '../../chain/match.ts';
import type { Query } from '../../chain/query.ts';
import { EMPTY_ANSWER } from '../../chain/whole-answer.ts';
import { FileReader } from '../../sources/file-reader.ts';
import { LocalPublication } from '../../sources/local/local-publication.ts';
import type { PublicationId } from '../../table/types.ts';
import type { TableWriter } from '../../table/writer.ts';
import { CLASS, type NameKey, type RecordData, TYPE } from '../../wire/types.ts';
import { HostsNames } from './hosts-names.ts';
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

export class Hosts {
  readonly handler: Handler;
  readonly #options: HostsOptions;
  readonly #fence: ItemFence;
  readonly #dependencies: HostsDependencies;
  readonly #zones: ReadonlySet<NameKey>;
  readonly #fallthrough: ReadonlySet<NameKey>;
  readonly #reader = new FileReader();
  readonly #publication: LocalPublication;
  #published: PublishedHosts;
  #names: HostsNames;
  /** Digest of the file as it was read last. */
  #digest = '';
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(options: HostsOptions, dependencies: HostsDependencies) {
    this.#options = options;
    const { clock, log } = dependencies;
    this.#fence = new ItemFence({ source: 'hosts', clock, log });
    this.#dependencies = dependencies;
    this.#zones = new Set(options.zones);
    this.#fallthrough = new Set(options.fallthrough);
    this.#names = HostsNames.ofLines(options.inline, options);
    this.#publication = new LocalPublication(dependencies.table, dependencies.log);
    this.#published = new PublishedHosts(HostsNames.ofLines([], options), { ...options, zones: [] });
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
    await this.#publish(this.#names);
    await this.#read();
    this.#lookAgain();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    await inSteps(this.#dependencies.table.dropPublication(this.#publication.id));
  }

  #lookAgain(): void {
    const { reload } = this.#options;
    if (reload === 0 || this.#isStopped) return;
    this.#timer = this.#dependencies.clock.after(reload, () => {
      void this.#read().then(() => this.#lookAgain());
    });
  }

  async #read(): Promise<void> {
    const { clock } = this.#dependencies;
    const reading = await this.#reader.read(this.#options.path, clock.now());
    if (reading?.kind !== 'content' || reading.digest === this.#digest || this.#isStopped) return;
    this.#digest = reading.digest;
    const { path } = this.#options;
    const names = this.#fence.take(
      () => path,
      () => this.#names.withFile(reading.octets.toString(), this.#options),
    );
    if (names === undefined) return;
    for (const { line, problem } of names.failures) this.#fence.reject(`${path}:${line}`, 'failed', problem);
    await this.#publish(names);
    this.#count();
  }

  async #publish(names: HostsNames): Promise<void> {
    const { readTtl: ttl = this.#options.ttl } = this.#dependencies;
    const published = new PublishedHosts(names, { ...this.#options, ttl });
    await inSteps(this.#publication.replace(this.#published, published));
    this.#published = published;
    this.#names = names;
    this.#dependencies.table.publicationChanged(this.#publication.id);
  }

  #count(): void {
    const { metrics, clock } = this.#dependencies;
    metrics
      .gauge('coredns_hosts_entries', 'The combined number of entries in hosts and Corefile.', ['hostsfile'])
      .set({ hostsfile: this.#options.path }, this.#names.size);
    metrics
      .gauge('coredns_hosts_reload_timestamp_seconds', 'The timestamp of the last reload of hosts file.')
      .set({}, clock.now() / 1000);
  }

  #handle(query: Query, next: Next): Answer | Promise<Answer> {
    const { key, question } = query;
    const { type } = question;
    if (type === TYPE.PTR) {
      const names = this.#names.namesOf(key);
      if (names.length === 0) return next(query);
      return this.#answer(
        key,
        names.map((target) => ({ kind: 'PTR', target })),
      );
    }
    if (!isWithinAny(key, this.#zones)) return next(query);
    const passesType = this.#options.fallsThroughUnsupported && type !== TYPE.A && type !== TYPE.AAAA;
    if (passesType && isWithinAny(key, this.#fallthrough)) return next(query);
    if (this.#names.isKnown(key)) return this.#answer(key, this.#addresses(key, type));
    return isWithinAny(key, this.#fallthrough) ? next(query) : { kind: 'servfail' };
  }

  #addresses(name: NameKey, type: number): readonly RecordData[] {
    if (type === TYPE.A)
      return this.#names.addressesOf(name, 'ipv4').map((address) => ({ kind: 'A', address }));
    if (type !== TYPE.AAAA) return [];
    return this.#names.addressesOf(name, 'ipv6').map((address) => ({ kind: 'AAAA', address }));
  }

  /** Empty data: the name is known, but has no records of this type. */
  #answer(name: NameKey, data: readonly RecordData[]): Answer {
    const answers = data.map((each) => ({ name, class: CLASS.IN, ttl: this.#options.ttl, data: each }));
    return { ...EMPTY_ANSWER, authoritative: true, answers };
  }

  #concerns(name: NameKey, type: number): boolean {
    if (type === TYPE.PTR) return this.#names.namesOf(name).length > 0;
    if (!isWithinAny(name, this.#zones)) return false;
    return !isWithinAny(name, this.#fallthrough) || this.#names.isKnown(name);
  }
}

/** Pauses between the steps, so that a long file does not delay queries. */
async function inSteps(steps: Generator<void, unknown>): Promise<void> {
  while (steps.next().done !== true) await new Promise((resolve) => setImmediate(resolve));
}

/** Any name, because the known names change with the file. */
const MATCHES: readonly Match[] = [{ name: { kind: 'any' }, types: 'all' }];
