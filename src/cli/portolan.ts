#!/usr/bin/env node
/**
 * The program's entry. Handlers of signals stand before anything else is loaded, hence the second, late import.
 */
import './signals.ts';

const { run } = await import('./program.ts');
process.exit(await run(process.argv.slice(2)));
