#!/usr/bin/env node
/**
 * The program's entry. Handlers of signals stand before anything else is loaded, hence the second, late import.
 */
import './signals.ts';
import './small-heap.ts';

const [, entry = '', ...words] = process.argv;
const { wordsAsCalled } = await import('./called-as.ts');
const { run } = await import('./program.ts');
process.exit(await run(wordsAsCalled(entry, words)));
