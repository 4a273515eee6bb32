/**
 * The settings of the autoscaler, complete and checked.
 */
import type { ScaleTarget } from './scale-targets.ts';

export interface AutoscalerPlan {
  /** At least one. */
  readonly targets: readonly ScaleTarget[];
  /** Of the targets, the ConfigMap and the Lease. */
  readonly namespace: string;
  /** The name of the ConfigMap with the parameters. */
  readonly configMap: string;
  /** The data that a missing ConfigMap is created with; undefined: it is not created. */
  readonly defaultParameters: ReadonlyMap<string, string> | undefined;
  /** Milliseconds from one poll to the next. */
  readonly pollPeriod: number;
  /** A label selector of the nodes that count; empty: all. */
  readonly nodeLabels: string;
  /** Failed polls in a row after which the program ends; 0: never. */
  readonly maxSyncFailures: number;
  /** Whether nothing is written, only told. */
  readonly isDryRun: boolean;
  readonly scaleDown: ScaleDownPlan;
  /** Undefined: every instance scales. */
  readonly election: ElectionPlan | undefined;
}

export interface ScaleDownPlan {
  /** Milliseconds: a target is scaled down to the most replicas that were wanted in this time. */
  readonly delay: number;
  /** Replicas that a target may lose in one poll period; 0: any number. */
  readonly maxReplicas: number;
}

/** One of several instances scales, the one that holds the Lease. */
export interface ElectionPlan {
  /** The name of the Lease. */
  readonly lease: string;
  /** Milliseconds that it holds without being renewed. */
  readonly duration: number;
}
