/**
 * All checks that need no program on the nodes.
 */
import type { Check } from '../finding.ts';
import { OBJECT_CHECKS } from './object-checks.ts';
import { SERVER_CHECKS } from './server-checks.ts';
import { TRAFFIC_CHECKS } from './traffic-checks.ts';

export const ALL_CHECKS: readonly Check[] = [...SERVER_CHECKS, ...OBJECT_CHECKS, ...TRAFFIC_CHECKS];
