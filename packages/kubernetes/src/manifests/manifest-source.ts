/**
 * Reads a folder of manifests instead of an API server and passes the same objects to the same sinks.
 *
 * A file that becomes invalid is reported with its line, and its last valid version stays in use, as do the other files.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { ItemGuard, type RejectedItem } from '@portolan/kernel/base/item-guard.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { type FileChange, FolderFollower } from '@portolan/sources/folder-follower.ts';
import type { ClusterSinks } from '../api/list-watch/cluster-watch.ts';
import { type ClusterObject, keyOfObject, type ObjectKind, type ObjectSink } from '../objects/objects.ts';
import { MadeUpAddresses } from './made-up-addresses.ts';
import { mergeManifests, type Remark } from './merge-manifests.ts';
import { ManifestError, type ManifestObject, parseManifest } from './parse-manifest.ts';

export interface ManifestSourceOptions {
  readonly folder: string;
  /** Whether a folder without manifests counts as an empty cluster. */
  readonly allowEmpty: boolean;
  readonly sinks: ClusterSinks;
  readonly clock: Clock;
  readonly log: Log;
}

export interface ManifestStatus {
  readonly files: number;
  /** Files whose current version is invalid. */
  readonly badFiles: number;
  /** Messages why objects may be missing; empty if all are there. */
  readonly missing: readonly string[];
}

type AnySink = ObjectSink<ClusterObject>;

export class ManifestSource {
  readonly #log: Log;
  readonly #folder: string;
  readonly #allowEmpty: boolean;
  readonly #markIncomplete: (isIncomplete: boolean) => void;
  readonly #sinks: ReadonlyMap<ObjectKind, AnySink>;
  readonly #follower: FolderFollower;
  readonly #guard: ItemGuard;
  readonly #objects: ItemGuard;
  readonly #addresses = new MadeUpAddresses();
  /** The objects of the last valid version of each file. */
  readonly #good = new Map<string, readonly ManifestObject[]>();
  readonly #bad = new Set<string>();
  #served: ReadonlyMap<string, string> = new Map();
  #remarked: ReadonlySet<string> = new Set();
  #listed = false;

  constructor({ folder, allowEmpty, sinks, clock, log }: ManifestSourceOptions) {
    this.#log = log;
    this.#guard = new ItemGuard({
      source: 'manifests',
      clock,
      log,
      report: (rejected) => this.#reject(rejected),
    });
    this.#objects = new ItemGuard({ source: 'manifests', clock, log });
    this.#folder = folder;
    this.#allowEmpty = allowEmpty;
    this.#markIncomplete = sinks.markIncomplete ?? (() => {});
    const { services, endpoints, namespaces, pods } = sinks;
    const all = { Service: services, Endpoints: endpoints, Namespace: namespaces, Pod: pods };
    const given = Object.entries(all).filter(([, sink]) => sink !== undefined);
    // Keys are kinds, and each object goes only to the sink of its kind.
    this.#sinks = new Map(given as [ObjectKind, AnySink][]);
    const accepts = (name: string) => /\.(?:ya?ml|json)$/i.test(name) && !name.startsWith('.');
    this.#follower = new FolderFollower({
      folder,
      accepts,
      clock,
      log,
      onChange: (changes) => this.#take(changes),
    });
  }

  /**
   * Lists the contents of the folder, and follows it from then on.
   *
   * @throws FolderError if it cannot be read
   */
  async start(): Promise<void> {
    await this.#follower.start();
  }

  stop(): void {
    this.#follower.stop();
  }

  status(): ManifestStatus {
    return { files: this.#good.size, badFiles: this.#bad.size, missing: this.#missing() };
  }

  #take(changes: readonly FileChange[]): void {
    for (const change of changes) {
      if (change.kind === 'content') this.#read(change.file, change.octets);
      else if (change.kind === 'unreadable') this.#guard.reject(change.file, 'unreadable', change.reason);
      else this.#forget(change.file);
    }
    const files = [...this.#good.keys()].sort();
    const { objects, remarks } = mergeManifests(
      files.flatMap((file) => this.#good.get(file) ?? []),
      this.#addresses,
    );
    this.#remark(remarks);
    this.#warnOfMissing();
    this.#serve(objects);
    this.#log.info('manifests read', { files: files.length, bad: this.#bad.size, objects: objects.size });
  }

  #read(file: string, octets: Buffer): void {
    const manifest = this.#guard.take(
      () => file,
      () => parseManifest(file, octets.toString('utf8')),
    );
    if (manifest === undefined) return;
    const { objects, ignoredKinds } = manifest;
    this.#good.set(file, objects);
    this.#bad.delete(file);
    if (ignoredKinds.length > 0)
      this.#log.debug('kinds without meaning to DNS', { file, kinds: ignoredKinds.join() });
  }

  #reject({ item: file, problem, error }: RejectedItem): void {
    this.#bad.add(file);
    const served = this.#good.has(file) ? 'its last good version' : 'nothing of it';
    const why =
      error instanceof ManifestError ? { line: error.line, reason: error.reason } : { reason: problem };
    this.#log.error('bad manifest', { file, ...why, served });
  }

  /** A file that was valid once is served in that version, so its objects are not missing. */
  #missing(): readonly string[] {
    const unread = [...this.#bad].filter((file) => !this.#good.has(file)).sort();
    const missing = unread.map((file) => `manifests: cannot be read: ${file}`);
    const isEmpty = this.#good.size + this.#bad.size === 0;
    if (isEmpty && !this.#allowEmpty)
      missing.push(`manifests: none in ${this.#folder}; add some, or give --allow-empty`);
    return missing;
  }

  /** Call it before serving the objects: names in unreadable files must never be denied. */
  #warnOfMissing(): void {
    const missing = this.#missing();
    this.#markIncomplete(missing.length > 0);
    const isEmpty = this.#good.size + this.#bad.size === 0;
    if (missing.length > 0 && isEmpty)
      this.#log.warn('no manifests found, names are not denied', {
        folder: this.#folder,
        remedy: 'add manifests, or give --allow-empty',
      });
  }

  #forget(file: string): void {
    this.#good.delete(file);
    this.#bad.delete(file);
  }

  #remark(remarks: readonly Remark[]): void {
    const now = new Set<string>();
    for (const { message, ...fields } of remarks) {
      const text = JSON.stringify({ message, ...fields });
      now.add(text);
      if (!this.#remarked.has(text)) this.#log.warn(message, fields);
    }
    this.#remarked = now;
  }

  /** Passes the differences to the sinks. */
  #serve(objects: ReadonlyMap<string, ClusterObject>): void {
    const now = new Map<string, string>();
    if (!this.#listed) for (const sink of this.#sinks.values()) sink.listStarted();
    for (const [id, object] of objects) {
      const text = JSON.stringify(object);
      now.set(id, text);
      if (this.#served.get(id) === text) continue;
      this.#objects.take(
        () => id,
        () => this.#sinks.get(object.kind)?.upsert(object),
      );
    }
    for (const [id, text] of this.#served)
      if (!now.has(id))
        this.#objects.take(
          () => id,
          () => this.#remove(text),
        );
    if (!this.#listed) for (const sink of this.#sinks.values()) sink.listCompleted();
    this.#listed = true;
    this.#served = now;
  }

  #remove(text: string): void {
    const object = JSON.parse(text) as ClusterObject; // We wrote this text from an object.
    this.#sinks.get(object.kind)?.remove(keyOfObject(object));
  }
}
