/**
 * Loads the large bundles of `dist/` with V8's code caches, which `scripts/code-caches` writes beside them: code that a start
 * needs is neither parsed nor compiled again, in the main thread and in readers.
 *
 * A cache is bound to the build that it was made with, by the digest on the bundle's first line, to the version of Node.js, and by
 * V8 to its flags, hence `small-heap.ts` first. The code runs without any other cache.
 */
// An import would evaluate every export of these modules, and so load streams and promises of files in each thread.
const { readFileSync } = process.getBuiltinModule('node:fs');
const { createRequire } = process.getBuiltinModule('node:module');
const { fileURLToPath } = process.getBuiltinModule('node:url');
const { Script } = process.getBuiltinModule('node:vm');

/** `rejected`: Node.js has another version or other flags. `absent`: there is no cache for this processor or this build. */
export type CodeCacheState = 'used' | 'rejected' | 'absent';

/** Characters of the digest, after `//` in a bundle, and first in its cache. */
const DIGEST_LENGTH = 64;
/** Characters of the version of Node.js that follow it in the cache: releases with the same V8 may differ in what they expect of one. */
const VERSION_LENGTH = 16;
const HEADER_LENGTH = DIGEST_LENGTH + VERSION_LENGTH;

const states = new Map<string, CodeCacheState>();

/** The bundles that this thread has loaded. */
export function codeCacheStates(): ReadonlyMap<string, CodeCacheState> {
  return states;
}

type BundleFunction = (exports: object, require: unknown, module: object, moduleUrl: string) => void;

/**
 * Runs a bundle of CommonJS.
 *
 * @param stub the address of the module in `dist/` that it implements, from which it loads others
 * @param name of the bundle: its file without `.cjs`
 * @param shared modules that it shares with others, by the names that it gives them
 * @returns its exports
 * @public the modules that the build writes call it
 */
export function loadBundle(stub: string, name: string, shared: ReadonlyMap<string, object>): object {
  const filename = fileURLToPath(new URL(`./${name}.cjs`, stub));
  const cacheFile = fileURLToPath(new URL(`./${name}.${process.arch}.cache`, stub));
  // The build refuses characters beyond ASCII, so V8 holds one octet for each.
  const source = readFileSync(filename, 'latin1');
  const cache = readCache(cacheFile, source.slice(2, 2 + DIGEST_LENGTH));
  const script = new Script(source, {
    filename,
    ...(cache instanceof Uint8Array ? { cachedData: cache } : {}),
  });
  states.set(
    name,
    typeof cache === 'string' ? cache : script.cachedDataRejected === false ? 'used' : 'rejected',
  );
  const load = createRequire(stub);
  const module = { exports: {} };
  const run: BundleFunction = script.runInThisContext();
  run(module.exports, (wanted: string) => shared.get(wanted) ?? load(wanted), module, stub);
  return module.exports;
}

/** @returns the cache, or the state of a bundle that must do without */
function readCache(file: string, digest: string): Uint8Array | CodeCacheState {
  try {
    const octets = readFileSync(file);
    const header = octets.toString('latin1', 0, HEADER_LENGTH);
    if (header.slice(0, DIGEST_LENGTH) !== digest) return 'absent';
    const isOfNode = header.slice(DIGEST_LENGTH).trimEnd() === process.version;
    return isOfNode ? octets.subarray(HEADER_LENGTH) : 'rejected';
  } catch {
    // A cache only saves time.
    return 'absent';
  }
}
