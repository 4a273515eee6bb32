import { defineHandoverTests } from '../../listen/handover.ts';

defineHandoverTests(20);
