/**
 * The scenario files beside this one, each a test.
 */
import { describeScenarios } from '@portolan/testing/scenario.ts';
import { CacheStage } from './cache-stage.ts';

describeScenarios('the cache in virtual time', new URL('scenarios', import.meta.url), () => new CacheStage());
