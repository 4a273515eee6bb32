/**
 * The HTTP ports of this process: one host for all that it serves, which takes over the ports that the entry opened early.
 */
import { systemClock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { HttpHost } from '@portolan/server/observe/http-host.ts';
import { takeEarlyPort } from './early-ports.ts';

export function createHttpHost(log: Log): HttpHost {
  return new HttpHost({ clock: systemClock, log, takeEarlyPort });
}
