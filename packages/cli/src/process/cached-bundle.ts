/**
 * Loads the large bundles of `dist/` with V8's code caches, which `scripts/build.mjs` writes beside them: code that a start
 * needs is neither parsed nor compiled again, in the main thread and in readers.
 *
 * A cache is bound to the build that it was made with, by the digest on the bundle's first line, and by V8 to its own version
 * and flags, hence `small-heap.ts` first. V8 refuses all others; the code then runs without.
 */
// An import would evaluate every export of these modules, and so load streams and promises of files in each thread.
const { readFileSync, renameSync, writeFileSync } = process.getBuiltinModule('node:fs');
const { createRequire } = process.getBuiltinModule('node:module');
const { fileURLToPath } = process.getBuiltinModule('node:url');
const { Script } = process.getBuiltinModule('node:vm');

/** `rejected`: V8 has another version or other flags. `absent`: there is no cache for this processor or this build. */
export type CodeCacheState = 'used' | 'rejected' | 'absent';

/** Characters of the digest, after `//`. */
const DIGEST_LENGTH = 64;
/** Set by the build alone: the cache is written when the thread ends. */
const WRITES = process.env['PORTOLAN_WRITE_CODE_CACHE'] === '1';

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
  const cacheFile = fileURLToPath(stub).replace(/\.js$/, `.${process.arch}.cache`);
  // The build refuses characters beyond ASCII, so V8 holds one octet for each.
  const source = readFileSync(filename, 'latin1');
  const digest = source.slice(2, 2 + DIGEST_LENGTH);
  const cachedData = WRITES ? undefined : readCache(cacheFile, digest);
  const script = new Script(source, { filename, ...(cachedData === undefined ? {} : { cachedData }) });
  const isUsed = script.cachedDataRejected === false;
  states.set(name, cachedData === undefined ? 'absent' : isUsed ? 'used' : 'rejected');
  if (WRITES) process.once('exit', () => writeCache(cacheFile, digest, script));
  const load = createRequire(stub);
  const module = { exports: {} };
  const run: BundleFunction = script.runInThisContext();
  run(module.exports, (wanted: string) => shared.get(wanted) ?? load(wanted), module, stub);
  return module.exports;
}

/** @returns undefined if there is none of the same build */
function readCache(file: string, digest: string): Buffer | undefined {
  try {
    const octets = readFileSync(file);
    const isOfBuild = octets.subarray(0, DIGEST_LENGTH).toString('latin1') === digest;
    return isOfBuild ? octets.subarray(DIGEST_LENGTH) : undefined;
  } catch {
    // A cache only saves time.
    return undefined;
  }
}

function writeCache(file: string, digest: string, script: InstanceType<typeof Script>): void {
  // Servers that run at the same time share threads: each writes a whole file.
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, Buffer.concat([Buffer.from(digest, 'latin1'), script.createCachedData()]));
  renameSync(fresh, file);
}
