#!/usr/bin/env node
/**
 * The program's entry. Signal handlers and the rule for closed outputs are installed before the rest loads, hence the dynamic import.
 */
import './process/signals.ts';
import './process/outputs.ts';
import { keepHeapSmall } from './process/small-heap.ts';

const MAX_MS_TO_CLOSE = 1_000;
keepHeapSmall();
const [, entry = '', ...words] = process.argv;
const { resolveAlias } = await import('./program-aliases.ts');
const { run } = await import('./program.ts');
// Avoid `process.exit()`: it joins V8's compiler threads, and one of them may wait for a garbage collection that only this thread can
// run (nodejs/node#54918). On Node 24, several in a hundred short commands hung forever.
process.exitCode = await run(resolveAlias(entry, words));
// Exit even if a peer keeps a connection open.
setTimeout(() => process.exit(), MAX_MS_TO_CLOSE).unref();
