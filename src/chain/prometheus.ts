/**
 * The parts of prom-client that are used, and no more of it: the whole package brings a push gateway, a cluster of
 * processes and default metrics along, which cost 9 MB of memory.
 */
import { createRequire } from 'node:module';
import type * as Whole from 'prom-client';

const require = createRequire(import.meta.url);

// The files have no types of their own; what they export is what the package does under these names.
export const Registry = require('prom-client/lib/registry.js') as typeof Whole.Registry;
export const Gauge = require('prom-client/lib/gauge.js') as typeof Whole.Gauge;
export const Counter = require('prom-client/lib/counter.js') as typeof Whole.Counter;
