import { describe } from 'vitest';
import { defineTestsOf } from './pod-suite.ts';

const LAYOUT = 'three containers';

describe(LAYOUT, () => defineTestsOf(LAYOUT));
