/**
 * The settings of the autoscaler, complete and checked.
 */
import type { ScaleTarget } from './scale-targets.ts';

export interface AutoscalerPlan {
  /** At least one. */
  readonly targets: readonly ScaleTarget[];
  /** The namespace of the targets, the ConfigMap and the Lease. */
  readonly namespace: string;
  /** The name of the ConfigMap with the parameters. */
  readonly configMap: string;
  /** The initial data of the ConfigMap if it is missing; undefined: do not create it. */
  readonly defaultParameters: ReadonlyMap<string, string> | undefined;
  /** Milliseconds from one poll to the next. */
  readonly pollPeriod: number;
  /** Selects the nodes to count; empty: all nodes. */
  readonly nodeLabels: string;
  /** Failed polls in a row after which the program ends; 0: never. */
  readonly maxSyncFailures: number;
  /** Whether to log changes instead of writing them. */
  readonly isDryRun: boolean;
  readonly scaleDown: ScaleDownPlan;
  /** Undefined: every instance scales. */
  readonly election: ElectionPlan | undefined;
}

export interface ScaleDownPlan {
  /** Milliseconds. A target scales down only to the highest replica count wanted within this time. */
  readonly delay: number;
  /** The most replicas that a target may lose in one poll period; 0: no limit. */
  readonly maxReplicas: number;
}

/** Leader election: only the instance that holds the Lease scales. */
export interface ElectionPlan {
  /** The name of the Lease. */
  readonly lease: string;
  /** Milliseconds until a Lease that is not renewed expires. */
  readonly duration: number;
}
