#!/usr/bin/env node
/**
 * The program's entry. Handlers of signals stand before anything else is loaded, hence the second, late import.
 */
import './signals.ts';
import './small-heap.ts';

const MAX_MS_TO_CLOSE = 1_000;
const [, entry = '', ...words] = process.argv;
const { wordsAsCalled } = await import('./called-as.ts');
const { run } = await import('./program.ts');
// Not `process.exit()`: it joins the threads that compile for V8, and one of them may wait for a garbage collection that only
// this thread can make (nodejs/node#54918). Short commands on Node 24 hung forever, several of a hundred.
process.exitCode = await run(wordsAsCalled(entry, words));
// A connection that its peer holds open does not keep the process.
setTimeout(() => process.exit(), MAX_MS_TO_CLOSE).unref();
