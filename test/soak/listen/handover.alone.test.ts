import { defineHandoverTests } from '../../listen/handover.ts';
import { soakLength } from '../../support/soak-length.ts';

defineHandoverTests(soakLength(20, 8));
