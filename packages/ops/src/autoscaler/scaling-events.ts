/**
 * Kubernetes events about scaling, for `kubectl describe`.
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { RateLimitedWarnings } from '@portolan/kernel/base/rate-limited-warning.ts';
import type { RestClient } from '@portolan/kubernetes/api/rest/rest-client.ts';
import type { Scaling } from './scale-client.ts';
import type { ScalePlace } from './scale-place.ts';

/** Milliseconds between two warnings that events cannot be written, which does not affect scaling. */
const WARNING_INTERVAL = 3_600_000;

export class ScalingEvents {
  readonly #rest: RestClient;
  readonly #namespace: string;
  readonly #clock: Clock;
  readonly #warnings: RateLimitedWarnings;

  constructor(rest: RestClient, namespace: string, clock: Clock, log: Log) {
    this.#rest = rest;
    this.#namespace = namespace;
    this.#clock = clock;
    this.#warnings = new RateLimitedWarnings(log, clock, WARNING_INTERVAL);
  }

  /** Never rejects: a failed write is a warning. @param cause the reason, such as `5 nodes, 20 cores` */
  async write(place: ScalePlace, name: string, { before, after }: Scaling, cause: string): Promise<void> {
    const { kind, apiVersion } = place;
    const namespace = this.#namespace;
    const time = new Date(this.#clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
    const event = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: `${name}.${randomBytes(8).toString('hex')}`, namespace },
      involvedObject: { kind, apiVersion, name, namespace },
      reason: after > before ? 'ScaledUp' : 'ScaledDown',
      message: `Scaled from ${before} to ${after} replicas: ${cause}`,
      type: 'Normal',
      source: { component: 'portolan-autoscaler' },
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
    };
    try {
      await this.#rest.create(`/api/v1/namespaces/${namespace}/events`, event);
    } catch (error) {
      this.#warnings.warn('events cannot be written', {
        reason: describeError(error),
        hint: 'Allow create on events, or take no notice.',
      });
    }
  }
}
