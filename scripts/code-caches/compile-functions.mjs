// Writes the code cache of a bundle: `node FLAGS compile-functions.mjs BUNDLE CACHE`, with the first positions of the functions that it
// holds on standard input. None is run: the debugger compiles a function to find out where it could stop.
//
// FLAGS are `COMPILE_FLAGS` of `write-code-caches.mjs`. V8 leaves some octets of each function as they were in memory. Without any
// collection of garbage, these are zero.
import { readFileSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { basename } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { Script } from 'node:vm';

const [, , bundle, cache] = process.argv;
const source = readFileSync(bundle, 'latin1');
const starts = JSON.parse(readFileSync(0, 'utf8'));
/** Without its folder: the name is in the cache, and the program sets another one. */
const filename = basename(bundle);

const lines = [0];
for (let end = source.indexOf('\n'); end >= 0; end = source.indexOf('\n', end + 1)) lines.push(end + 1);

function locate(position) {
  let first = 0;
  let last = lines.length - 1;
  while (first < last) {
    const middle = (first + last + 1) >> 1;
    if (lines[middle] <= position) first = middle;
    else last = middle - 1;
  }
  return { lineNumber: first, columnNumber: position - lines[first] };
}

function compile(session, scriptId) {
  for (const position of starts) {
    const [start, end] = [position, position + 1].map((at) => ({ scriptId, ...locate(at) }));
    session.post('Debugger.getPossibleBreakpoints', { start, end, restrictToFunction: true }, (error) => {
      if (error) throw new Error(`cannot compile what is at ${position} of ${bundle}: ${error.message}`);
    });
  }
}

const session = new Session();
session.connect();
let scriptId = '';
session.on('Debugger.scriptParsed', ({ params }) => {
  if (params.url.endsWith(filename)) scriptId = params.scriptId;
});
session.post('Debugger.enable');
const script = new Script(source, { filename });
// Only defines the function around the bundle.
script.runInThisContext();
compile(session, scriptId);
session.post('Debugger.disable');
session.disconnect();
// V8 takes only caches with the flags of the process. Those of the command line are set back, and that of `small-heap.ts` is set.
for (const flag of ['--min-semi-space-size=0', '--max-semi-space-size=0', '--optimize-for-size'])
  setFlagsFromString(flag);
writeFileSync(cache, script.createCachedData());
