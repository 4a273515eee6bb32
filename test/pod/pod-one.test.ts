import { describe } from 'vitest';
import { defineTestsOf } from './pod-suite.ts';

const LAYOUT = 'one container';

describe(LAYOUT, () => defineTestsOf(LAYOUT));
