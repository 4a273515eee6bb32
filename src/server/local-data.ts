/**
 * Everything that is known without asking anybody, kept in the answer table: hosts files as they change, and records of
 * options.
 *
 * A change of a file makes all names anew, in slices, and publishes the difference. Files that change meanwhile are read
 * when that is done.
 */
import type { Clock } from '../ground/clock.ts';
import type { Log } from '../ground/log.ts';
import { ChangeQueue } from '../kube/change-queue.ts';
import type { HostsFormat, HostsOddity } from '../sources/hosts/hosts-format.ts';
import { type HostsFile, HostsSource } from '../sources/hosts/hosts-source.ts';
import { HostNames } from '../sources/local/host-names.ts';
import { LocalNames } from '../sources/local/local-names.ts';
import { hostsOnly, type LocalNamesPlan } from '../sources/local/local-plan.ts';
import { LOCAL_METRICS_ID } from '../sources/local/metrics-id.ts';
import { readHosts } from '../sources/local/read-hosts.ts';
import type { TableWriter } from '../table/writer.ts';
import { ROOT } from '../wire/name.ts';
import type { NameKey } from '../wire/types.ts';
import { branchesOf } from './changed-branches.ts';
import { LocalPublication } from './local-publication.ts';
import { OddityReport } from './oddity-report.ts';

export interface LocalDataOptions {
  readonly plan: LocalNamesPlan;
  /** Hosts files and folders of them, in the order in which they are to be read. */
  readonly hostsPaths: readonly string[];
  readonly format: HostsFormat;
  readonly table: TableWriter;
  /** Whether answers carry the RA bit. */
  readonly recursionAvailable: boolean;
  /** Called with domains, the names of which may have cached answers that are no longer right. */
  readonly onChange: (domains: readonly NameKey[]) => void;
  readonly clock: Clock;
  readonly log: Log;
}

export class LocalData {
  readonly #options: LocalDataOptions;
  readonly #source: HostsSource;
  readonly #publication: LocalPublication;
  readonly #queue: ChangeQueue;
  readonly #oddities: OddityReport;
  #names = new LocalNames(hostsOnly(0), new HostNames(true), LOCAL_METRICS_ID);
  #work: Iterator<void, void> | undefined;
  #isStale = true;
  #isStarted = false;

  constructor(options: LocalDataOptions) {
    const { hostsPaths, format, table, recursionAvailable, clock, log } = options;
    this.#options = options;
    this.#publication = new LocalPublication(table, recursionAvailable, log);
    this.#oddities = new OddityReport(log);
    this.#queue = new ChangeQueue(
      clock,
      () => this.#step(),
      () => {},
    );
    this.#source = new HostsSource({
      ...{ paths: hostsPaths, clock, log },
      isHostsFile: (name) => format.isHostsFile(name),
      onChange: () => {
        this.#isStale = true;
        this.#queue.schedule();
      },
    });
  }

  /** What is known now. */
  get names(): LocalNames {
    return this.#names;
  }

  /** Ends when all files are read and their names answered. */
  async start(): Promise<void> {
    await this.#source.start();
    this.#queue.settle();
    this.#isStarted = true;
  }

  /** Looks for changed files at once. */
  reload(): void {
    this.#source.look();
  }

  stop(): void {
    this.#source.stop();
    this.#queue.stop();
  }

  /** Does a little of the work. @returns false when there is none left */
  #step(): boolean {
    if (this.#work === undefined) {
      if (!this.#isStale) return false;
      this.#isStale = false;
      this.#work = this.#renew();
    }
    if (this.#work.next().done === true) this.#work = undefined;
    return true;
  }

  *#renew(): Generator<void, void> {
    const { plan, format, onChange, clock, log } = this.#options;
    const began = clock.monotonic();
    const files = this.#source.files();
    this.#oddities.begin(files);
    const onOddity = (file: HostsFile, oddity: HostsOddity) => this.#oddities.add(file, oddity);
    const hosts = yield* readHosts({ plan, files, format, onOddity });
    this.#oddities.end();
    const before = this.#names;
    const after = new LocalNames(plan, hosts, LOCAL_METRICS_ID);
    const changed = yield* this.#publication.replace(before, after);
    this.#names = after;
    // Before the start nobody has been told anything.
    if (changed.count > 0 && this.#isStarted) onChange(changed.isListed ? branchesOf(changed.first) : [ROOT]);
    const milliseconds = Math.round(clock.monotonic() - began);
    const fields = { files: files.length, names: hosts.size, changed: changed.count, milliseconds };
    if (changed.count > 0 || files.length > 0) log.info('hosts files read', fields);
  }
}
