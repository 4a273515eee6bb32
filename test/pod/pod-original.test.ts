import { describeWithTool } from '../support/tools.ts';
import { definePodTests } from './pod-suite.ts';

const LAYOUT = 'the original dnsmasq between ours';

describeWithTool('dnsmasq', LAYOUT, () => definePodTests(LAYOUT));
