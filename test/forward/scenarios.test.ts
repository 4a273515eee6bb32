/**
 * The scenario files beside this one, each a test.
 */
import { describeScenarios } from '@portolan/testing/scenario.ts';
import { ForwardStage } from './forward-stage.ts';

describeScenarios(
  'forwarding in virtual time',
  new URL('scenarios', import.meta.url),
  () => new ForwardStage(),
);
