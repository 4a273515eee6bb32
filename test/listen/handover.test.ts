import { defineHandoverTests } from './handover.ts';

defineHandoverTests(2);
