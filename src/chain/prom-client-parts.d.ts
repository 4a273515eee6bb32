/**
 * These files of prom-client have no types; each exports the value that the package exports under this name.
 */
declare module 'prom-client/lib/registry.js' {
  export { Registry as default } from 'prom-client';
}
declare module 'prom-client/lib/gauge.js' {
  export { Gauge as default } from 'prom-client';
}
declare module 'prom-client/lib/counter.js' {
  export { Counter as default } from 'prom-client';
}
