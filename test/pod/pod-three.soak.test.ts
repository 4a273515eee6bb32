import { describe } from 'vitest';
import { definePodTests } from './pod-suite.ts';

const LAYOUT = 'three containers';

describe(LAYOUT, () => definePodTests(LAYOUT));
