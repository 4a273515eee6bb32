/**
 * Only the parts of prom-client that we use. The whole package also loads a push gateway, support for clusters of processes, and
 * default metrics: 9 MB of memory.
 */
import { createRequire } from 'node:module';
import type * as Whole from 'prom-client';

const require = createRequire(import.meta.url);

// The files have no types; each exports the value that the package exports under this name.
export const Registry = require('prom-client/lib/registry.js') as typeof Whole.Registry;
export const Gauge = require('prom-client/lib/gauge.js') as typeof Whole.Gauge;
export const Counter = require('prom-client/lib/counter.js') as typeof Whole.Counter;
