/**
 * The names and labels of pods by address, for facts about the clients of queries.
 */
import type { PodObject } from '../objects/objects.ts';
import { PodClaims } from './pod-claims.ts';

export interface PodIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
}

const NO_LABELS: ReadonlyMap<string, string> = new Map();

export class PodIdentities extends PodClaims<PodIdentity> {
  constructor() {
    super({ take: ({ namespace, name, labels = NO_LABELS }: PodObject) => ({ namespace, name, labels }) });
  }
}
