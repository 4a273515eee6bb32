import { describeWithTool } from '../support/tools.ts';
import { defineTestsOf } from './pod-suite.ts';

const LAYOUT = 'the original dnsmasq between ours';

describeWithTool('dnsmasq', LAYOUT, () => defineTestsOf(LAYOUT));
