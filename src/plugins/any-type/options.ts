/**
 * The settings of `any-type`.
 */
import type { Dialect } from '../../kube/dialects/dialect.ts';

export interface AnyTypeOptions {
  readonly policy: Dialect['anyQuestions'];
}
