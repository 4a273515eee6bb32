/**
 * Loaded into the server before its own code, where its memory is measured: SIGUSR2 collects garbage, so that what is
 * counted is what the server holds and not when V8 last found time to clean up. Needs `--expose-gc`.
 */
process.on('SIGUSR2', () => globalThis.gc?.());
