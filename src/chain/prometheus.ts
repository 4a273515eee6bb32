/**
 * Only the parts of prom-client that we use. The whole package also loads a push gateway, support for clusters of processes, and
 * default metrics: 9 MB of memory.
 */
/// <reference path="./prom-client-parts.d.ts" />
export { default as Counter } from 'prom-client/lib/counter.js';
export { default as Gauge } from 'prom-client/lib/gauge.js';
export { default as Registry } from 'prom-client/lib/registry.js';
