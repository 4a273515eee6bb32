/**
 * Keeps all local names in the answer table: names of hosts files as they change, and names of options.
 *
 * A change of a file rebuilds all names, in slices, and publishes the difference. Files that change meanwhile are read
 * after that.
 */
import { isDeepStrictEqual } from 'node:util';
import type { AddressRange } from '@portolan/dns/address-range.ts';
import { ROOT } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import { ChangeQueue } from '@portolan/kernel/base/change-queue.ts';
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import { ItemGuard } from '@portolan/kernel/base/item-guard.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { TimeSlice } from '@portolan/kernel/base/time-slice.ts';
import type { HostNames } from '@portolan/kernel/records/hosts/host-names.ts';
import { TableFullError } from '@portolan/kernel/table/arena.ts';
import type { LocalisedPublication, PublicationId } from '@portolan/kernel/table/types.ts';
import type { TableWriter } from '@portolan/kernel/table/writer.ts';
import type { HostsManner, HostsWarning } from '../hosts/hosts-manner.ts';
import { type HostsFile, HostsSource } from '../hosts/hosts-source.ts';
import { ParseWarningReport } from '../hosts/parse-warning-report.ts';
import { listBranches } from './affected-subtrees.ts';
import { LocalNames } from './local-names.ts';
import { hostsOnly, type LocalNamesPlan } from './local-plan.ts';
import { LocalPublication } from './local-publication.ts';
import { LocalisedPublications } from './localised-publications.ts';
import { LOCAL_OUTCOME } from './outcome.ts';
import { readHosts } from './read-hosts.ts';

export interface LocalDataOptions {
  readonly plan: LocalNamesPlan;
  /** Hosts files and folders of them, in reading order. */
  readonly hostsPaths: readonly string[];
  readonly manner: HostsManner;
  readonly table: TableWriter;
  /** The networks that distinguish clients, if the plan localises queries. */
  readonly networks: readonly AddressRange[];
  /** Called when the list `localised` has changed; returns false if no view shows it. */
  readonly onShow: () => boolean;
  /** Called with domains whose cached answers may be outdated. */
  readonly onChange: (domains: readonly NameKey[]) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** As dnsmasq has it: an address leads to its first name, and other servers may know what a name lacks. */
const RULES = {
  outcome: LOCAL_OUTCOME,
  answersBoth: false,
  leadsTo: 'first',
  keepsRepeated: false,
} as const;
/** Octets of a long line, to size the index of names: growing costs less than shrinking. */
const LINE_OCTETS = 64;
/** Delay before reading a file again that changed during the read. */
const RETRY_MILLISECONDS = 200;

export class LocalData {
  readonly #options: LocalDataOptions;
  readonly #source: HostsSource;
  readonly #publication: LocalPublication;
  readonly #localised: LocalisedPublications;
  #networks: readonly AddressRange[];
  readonly #queue: ChangeQueue;
  readonly #guard: ItemGuard;
  readonly #warnings: ParseWarningReport;
  #names: LocalNames;
  /** Names that are being read. */
  #building: HostNames | undefined;
  /** The names before the current ones, while publications for networks still have nodes of them. */
  #former: HostNames | undefined;
  #work: Iterator<void, void> | undefined;
  /** The listing of the parents of names. */
  #parents: { readonly of: LocalNames; readonly steps: Iterator<void, void> } | undefined;
  #isStale = true;
  #hasOtherNetworks = false;
  #isStarted = false;
  #retry: Timer | undefined;

  constructor(options: LocalDataOptions) {
    const { hostsPaths, manner, table, clock, log } = options;
    this.#options = options;
    this.#publication = new LocalPublication(table, log);
    this.#names = new LocalNames(hostsOnly(0), this.#publication.makeHostNames(RULES), LOCAL_OUTCOME);
    this.#localised = new LocalisedPublications(table, log);
    this.#networks = options.networks;
    this.#guard = new ItemGuard({ source: 'hosts', clock, log });
    this.#warnings = new ParseWarningReport(log, this.#guard);
    this.#queue = new ChangeQueue(
      clock,
      () => this.#step(),
      () => {},
    );
    this.#source = new HostsSource({
      paths: hostsPaths,
      clock,
      log,
      isHostsFile: (name) => manner.isHostsFile(name),
      onChange: () => this.#renewSoon(),
    });
  }

  /** Whether the table holds all names. */
  get isPublished(): boolean {
    return this.#publication.isWhole;
  }

  /** The publication that holds the names. */
  get publication(): PublicationId {
    return this.#publication.id;
  }

  /** The publications with names as clients of a network see them. Views list them before `publication`. */
  get localised(): readonly LocalisedPublication[] {
    return this.#localised.list();
  }

  /** Changes the networks that distinguish clients. */
  changeNetworks(networks: readonly AddressRange[]): void {
    if (isDeepStrictEqual(networks, this.#networks)) return;
    this.#networks = networks;
    this.#hasOtherNetworks = true;
    this.#queue.schedule();
  }

  /** The current names. */
  get names(): LocalNames {
    return this.#names;
  }

  /** Resolves when all files are read and their names published. */
  async start(): Promise<void> {
    await this.#source.start();
    for (const slice = new TimeSlice(this.#options.clock); this.#step(); )
      if (slice.isOver) await slice.next();
    this.#isStarted = true;
    this.#queue.schedule();
  }

  /** Checks for changed files at once. */
  reload(): void {
    this.#source.look();
  }

  stop(): void {
    this.#source.stop();
    this.#retry?.cancel();
    this.#queue.stop();
  }

  /** Gives the memory of all names back. The publication must be dropped. */
  release(): void {
    this.stop();
    this.#abandon();
    this.#names.hosts.retire();
    this.#retireFormer();
  }

  /** Schedules another read, of files that changed while they were read. */
  #renewLater(): void {
    this.#retry = this.#options.clock.after(RETRY_MILLISECONDS, () => this.#renewSoon());
  }

  #renewSoon(): void {
    this.#isStale = true;
    this.#queue.schedule();
  }

  /** Does one step of the work. @returns false when the work is done */
  #step(): boolean {
    if (this.#work === undefined) {
      if (!this.#isStale && !this.#hasOtherNetworks) return this.#stepParents();
      this.#work = this.#isStale ? this.#renew() : this.#localise();
      this.#isStale = false;
      this.#hasOtherNetworks = false;
    }
    if (this.#work.next().done === true) this.#work = undefined;
    return true;
  }

  /** Lists what only some answers need, once all names are answered: it takes a million names half a second. */
  #stepParents(): boolean {
    if (!this.#isStarted) return false;
    if (this.#parents?.of !== this.#names)
      this.#parents = { of: this.#names, steps: this.#names.listParents() };
    return this.#parents.steps.next().done !== true;
  }

  *#localise(): Generator<void, void> {
    yield* this.#localised.replace(this.#names, this.#networks, this.#options.onShow);
  }

  *#renew(): Generator<void, void> {
    const { plan, onChange, clock, log } = this.#options;
    const began = clock.monotonic();
    const files = this.#source.files();
    const hosts = yield* this.#read(files);
    if (hosts === undefined) return;
    const before = this.#names;
    const after = new LocalNames(plan, hosts, LOCAL_OUTCOME);
    const changed = yield* this.#publication.replace(before.nodes, after.nodes, hosts);
    if (changed === undefined) {
      this.#abandon();
      return;
    }
    // The cache is empty before the start.
    if (this.#isStarted) yield* after.countChanged(before, changed);
    else changed.count += hosts.size + hosts.reversed;
    this.#former = before.hosts;
    this.#names = after;
    this.#building = undefined;
    this.#options.table.publicationChanged(this.#publication.id);
    yield* this.#localise();
    // Names for networks were compared with the former ones until now.
    this.#retireFormer();
    if (changed.count > 0 && this.#isStarted)
      onChange(changed.isListed ? listBranches(changed.first) : [ROOT]);
    const milliseconds = Math.round(clock.monotonic() - began);
    const fields = { files: files.length, names: hosts.size, changed: changed.count, milliseconds };
    if (changed.count > 0 || files.length > 0) log.info('hosts files read', fields);
  }

  /** @returns undefined if there is nothing to show now */
  *#read(files: readonly HostsFile[]): Generator<void, HostNames | undefined> {
    const { plan, manner } = this.#options;
    this.#warnings.begin(files);
    this.#options.table.collect();
    const octets = files.reduce((sum, { size }) => sum + size, 0);
    const names = this.#publication.makeHostNames(RULES, octets / LINE_OCTETS);
    this.#building = names;
    const onWarning = (file: HostsFile, warning: HostsWarning) => this.#warnings.add(file, warning);
    try {
      if (yield* readHosts(names, { plan, files, manner, onWarning, guard: this.#guard })) {
        this.#warnings.end();
        return names;
      }
      this.#renewLater();
    } catch (error) {
      if (!(error instanceof TableFullError)) throw error;
      this.#publication.reportFull();
    }
    this.#abandon();
    return undefined;
  }

  /** Gives back the memory of names that are not shown. */
  #abandon(): void {
    this.#building?.retire();
    this.#building = undefined;
    this.#options.table.collect();
  }

  #retireFormer(): void {
    this.#former?.retire();
    this.#former = undefined;
    this.#options.table.collect();
  }
}
