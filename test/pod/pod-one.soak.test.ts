import { describe } from 'vitest';
import { definePodTests } from './pod-suite.ts';

const LAYOUT = 'one container';

describe(LAYOUT, () => definePodTests(LAYOUT));
