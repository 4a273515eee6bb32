/**
 * A folder of manifests in the place of an API server: the same objects go to the same sinks.
 *
 * A file that turns bad is reported with its line and its last good version stays; the other files are served.
 */
import type { Clock } from '../../ground/clock.ts';
import type { Log } from '../../ground/log.ts';
import type { ClusterSinks } from '../../kube/list-watch/cluster-watch.ts';
import { type ClusterObject, keyOfObject, type ObjectKind, type ObjectSink } from '../../kube/objects.ts';
import { type FileChange, FolderFollower } from '../folder-follower.ts';
import { MadeUpAddresses } from './made-up-addresses.ts';
import { mergeManifests, type Remark } from './merge-manifests.ts';
import { ManifestError, type ManifestObject, parseManifest } from './parse-manifest.ts';

export interface ManifestSourceOptions {
  readonly folder: string;
  readonly sinks: ClusterSinks;
  readonly clock: Clock;
  readonly log: Log;
}

export interface ManifestStatus {
  readonly files: number;
  /** Files that cannot be used as they are now. */
  readonly badFiles: number;
}

type AnySink = ObjectSink<ClusterObject>;

export class ManifestSource {
  readonly #log: Log;
  readonly #sinks: ReadonlyMap<ObjectKind, AnySink>;
  readonly #follower: FolderFollower;
  readonly #addresses = new MadeUpAddresses();
  /** The objects of the last good version of each file. */
  readonly #good = new Map<string, readonly ManifestObject[]>();
  readonly #bad = new Set<string>();
  #served: ReadonlyMap<string, string> = new Map();
  #remarked: ReadonlySet<string> = new Set();
  #listed = false;

  constructor({ folder, sinks, clock, log }: ManifestSourceOptions) {
    this.#log = log;
    const { services, endpoints, namespaces, pods } = sinks;
    const all = { Service: services, Endpoints: endpoints, Namespace: namespaces, Pod: pods };
    const given = Object.entries(all).filter(([, sink]) => sink !== undefined);
    // Keys are kinds, and an object is only ever handed to the sink of its own kind.
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
   * Lists what the folder holds, and follows it from then on.
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
    return { files: this.#good.size, badFiles: this.#bad.size };
  }

  #take(changes: readonly FileChange[]): void {
    for (const change of changes) {
      if (change.kind === 'content') this.#read(change.file, change.octets.toString('utf8'));
      else if (change.kind === 'unreadable') this.#reject(change.file, { reason: change.reason });
      else this.#forget(change.file);
    }
    const files = [...this.#good.keys()].sort();
    const { objects, remarks } = mergeManifests(
      files.flatMap((file) => this.#good.get(file) ?? []),
      this.#addresses,
    );
    this.#remark(remarks);
    this.#serve(objects);
    this.#log.info('manifests read', { files: files.length, bad: this.#bad.size, objects: objects.size });
  }

  #read(file: string, text: string): void {
    try {
      const { objects, ignoredKinds } = parseManifest(file, text);
      this.#good.set(file, objects);
      this.#bad.delete(file);
      if (ignoredKinds.length > 0)
        this.#log.debug('kinds without meaning to DNS', { file, kinds: ignoredKinds.join() });
    } catch (error) {
      if (!(error instanceof ManifestError)) throw error;
      this.#reject(file, { line: error.line, reason: error.reason });
    }
  }

  #reject(file: string, why: { readonly line?: number; readonly reason: string }): void {
    this.#bad.add(file);
    const served = this.#good.has(file) ? 'its last good version' : 'nothing of it';
    this.#log.error('bad manifest', { file, ...why, served });
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

  /** Hands the sinks what is different from before. */
  #serve(objects: ReadonlyMap<string, ClusterObject>): void {
    const now = new Map<string, string>();
    if (!this.#listed) for (const sink of this.#sinks.values()) sink.listStarted();
    for (const [id, object] of objects) {
      const text = JSON.stringify(object);
      now.set(id, text);
      if (this.#served.get(id) !== text) this.#sinks.get(object.kind)?.upsert(object);
    }
    for (const [id, text] of this.#served) if (!now.has(id)) this.#remove(text);
    if (!this.#listed) for (const sink of this.#sinks.values()) sink.listCompleted();
    this.#listed = true;
    this.#served = now;
  }

  #remove(text: string): void {
    const object = JSON.parse(text) as ClusterObject; // Our own text of one.
    this.#sinks.get(object.kind)?.remove(keyOfObject(object));
  }
}
