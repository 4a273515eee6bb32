/**
 * Where the control socket is: a path, or by default a place that a client in the same container finds by itself.
 *
 * The default is a file in `/run/portolan`, if that folder is writable. Otherwise it is a name in the abstract namespace. All
 * processes of a network namespace share these names, so the name contains the PID namespace of the container: pods with
 * `hostNetwork` on one node do not meet.
 */
import {
  accessSync,
  chmodSync,
  constants,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
} from 'node:fs';
import { join } from 'node:path';
import { abstractPath } from '@portolan/kernel/socket/abstract-name.ts';
import { PROTOCOL_VERSION } from './protocol.ts';

/** Where a server listens, or where a client looks. */
export type ControlPlace =
  | { readonly kind: 'none' }
  /** `isDefault`: the server may take an abstract name instead. `mode`: that of the file; by default for the owner alone. */
  | { readonly kind: 'file'; readonly path: string; readonly isDefault: boolean; readonly mode?: number }
  | { readonly kind: 'abstract'; readonly name: string };

export type OpenPlace = Exclude<ControlPlace, { kind: 'none' }>;

/** A folder in memory or an `emptyDir`, which the manifests mount. */
export const RUN_FOLDER = '/run/portolan';
/** The value of flags that turns the socket off. */
export const NO_CONTROL = 'none';
const SUFFIX = '.sock';

export interface PlaceOptions {
  /** The default folder. */
  readonly folder?: string;
  /** The folder of information about processes. */
  readonly proc?: string;
}

/** @param given the path of a flag; undefined: the default place @param role the command of the server: `serve` */
export function placeOfServer(
  given: string | undefined,
  role: string,
  { folder = RUN_FOLDER, proc = '/proc' }: PlaceOptions = {},
): ControlPlace {
  if (given === NO_CONTROL) return { kind: 'none' };
  if (given !== undefined) return { kind: 'file', path: given, isDefault: false };
  if (isWritable(folder)) return { kind: 'file', path: join(folder, `${role}${SUFFIX}`), isDefault: true };
  return createAbstractPlace(role, proc);
}

/**
 * The default place of a server that is root now, and becomes another user before it opens the socket. That user could not remove a file
 * from a folder of root, so root makes a folder for it: of that user, and of the group of root, which needs no capability to connect.
 *
 * @param user whom the process becomes
 */
export function placeOfUser(user: number, role: string, options: PlaceOptions = {}): ControlPlace {
  const { folder = RUN_FOLDER, proc = '/proc' } = options;
  const own = join(folder, role);
  if (!isWritable(folder) || !ensureFolder(own, user)) return createAbstractPlace(role, proc);
  return { kind: 'file', path: join(own, `control${SUFFIX}`), isDefault: true, mode: OWNER_AND_GROUP };
}

/** The group of root is inherited by what is made inside. */
const FOLDER_MODE = 0o2770;
const OWNER_AND_GROUP = 0o660;
const ROOT_GROUP = 0;

/** A link that somebody has put there is never followed. @returns whether the folder is that of the user */
function ensureFolder(path: string, user: number): boolean {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory() === true && found.uid === user && found.gid === ROOT_GROUP) return true;
    // Of the user of a former start; it is empty unless somebody uses it.
    if (found !== undefined) rmdirSync(path);
    mkdirSync(path);
    chmodSync(path, FOLDER_MODE);
    lchownSync(path, user, ROOT_GROUP);
    return true;
  } catch {
    return false;
  }
}

/** A name in the abstract namespace, unique to this process. */
export function createAbstractPlace(role: string, proc = '/proc'): ControlPlace {
  const namespace = pidNamespace(proc);
  if (namespace === undefined) return { kind: 'none' };
  return { kind: 'abstract', name: `${PREFIX}${namespace}/${role}/${process.pid}` };
}

/** The places of all servers that a client in this container can reach. @param given a path, or `@` and a name */
export function placesToAsk(
  given: string | undefined,
  { folder = RUN_FOLDER, proc = '/proc' }: PlaceOptions = {},
): readonly ControlPlace[] {
  if (given?.startsWith('@')) return [{ kind: 'abstract', name: given.slice(1) }];
  if (given !== undefined) return [{ kind: 'file', path: given, isDefault: false }];
  return [...filesIn(folder), ...abstractNames(proc)];
}

/** As people write it: abstract names with `@` in place of their first octet. */
export function describePlace(place: Exclude<ControlPlace, { kind: 'none' }>): string {
  return place.kind === 'file' ? place.path : `@${place.name}`;
}

/** The address for `node:net`. */
export function addressOfPlace(place: Exclude<ControlPlace, { kind: 'none' }>): string {
  return place.kind === 'file' ? place.path : abstractPath(place.name);
}

const PREFIX = `portolan/control/${PROTOCOL_VERSION}/`;

/** The number of the PID namespace; undefined where the system has none. */
function pidNamespace(proc: string): string | undefined {
  try {
    return /\[(\d+)\]/.exec(readlinkSync(join(proc, 'self/ns/pid')))?.[1];
  } catch {
    return undefined;
  }
}

function filesIn(folder: string): readonly ControlPlace[] {
  try {
    const paths = readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? socketsIn(path) : entry.name.endsWith(SUFFIX) ? [path] : [];
    });
    return paths.sort().map((path) => ({ kind: 'file', path, isDefault: true }));
  } catch {
    return [];
  }
}

/** Those of a server that has become another user. */
function socketsIn(folder: string): readonly string[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith(SUFFIX));
    return names.map((name) => join(folder, name));
  } catch {
    return [];
  }
}

/** The kernel lists the sockets of the network namespace; each abstract name begins with `@`, and ends with octets of 0. */
function abstractNames(proc: string): readonly ControlPlace[] {
  const namespace = pidNamespace(proc);
  if (namespace === undefined) return [];
  const ours = `@${PREFIX}${namespace}/`;
  let table: string;
  try {
    table = readFileSync(join(proc, 'net/unix'), 'utf8');
  } catch {
    return [];
  }
  const names = table.split('\n').flatMap((line) => {
    const at = line.indexOf(ours);
    return at < 0 ? [] : line.slice(at + 1).replace(/@+$/, '');
  });
  return [...new Set(names)].sort().map((name) => ({ kind: 'abstract', name }));
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
