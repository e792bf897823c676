import { answer, failedTool, tool, type Scene } from '../corpus/planted.ts'

/** "The migration last week in that project", written in the search language. */
export const memories: readonly Scene[] = [
  {
    docs: {
      asked: { text: 'The obsidian migration hangs at step four.', project: 'ledger', at: '2026-06-23T10:00:00Z' },
      ran: tool(
        'run_terminal_cmd',
        { command: 'make obsidian-migration' },
        { output: 'step 4 …' },
        { project: 'ledger', at: '2026-06-25T10:00:00Z' },
      ),
      elsewhere: { text: 'The obsidian migration is done.', project: 'infra', at: '2026-06-24T10:00:00Z' },
      before: { text: 'The obsidian migration is planned.', project: 'ledger', at: '2026-04-24T10:00:00Z' },
    },
    asks: [
      {
        q: 'obsidian migration project:ledger after:2026-06-22 before:2026-06-29',
        want: 'asked ran',
        never: 'elsewhere before',
      },
      { q: 'obsidian migration project:ledger after:10d role:user', want: 'asked', never: 'ran elsewhere before' },
    ],
  },
  {
    docs: {
      command: tool(
        'run_terminal_cmd',
        { command: 'ffmpeg -i pumice.mov -c:v libx265 -crf 24 out.mp4' },
        { output: 'done' },
        { project: 'docs-site', at: '2025-11-05T10:00:00Z' },
      ),
      said: answer('For pumice.mov use ffmpeg with libx264.', { project: 'docs-site', at: '2025-11-05T11:00:00Z' }),
      later: tool(
        'run_terminal_cmd',
        { command: 'ffmpeg -i pumice.mov -an silent.mov' },
        { output: 'done' },
        { project: 'docs-site', at: '2026-01-05T10:00:00Z' },
      ),
    },
    asks: [
      { q: 'tool:run_terminal_cmd ffmpeg pumice on:2025-11', want: 'command', never: 'said later' },
      { q: 'ffmpeg pumice libx265', want: 'command', never: 'said later' },
    ],
  },
  {
    docs: {
      idea: answer('Use a bloom filter for the granite lookup; it saves a read in nine of ten.', {
        project: 'billing-core',
        model: 'claude-4.5-opus',
      }),
      asked: { text: 'Would a bloom filter help the granite lookup?', project: 'billing-core' },
      other: answer('A bloom filter does not help the granite lookup.', {
        project: 'atlas-mobile',
        model: 'gpt-5-codex',
      }),
    },
    asks: [
      { q: 'granite bloom filter role:assistant project:billing-core', want: 'idea', never: 'asked other' },
      { q: 'granite bloom filter model:claude-4.5-opus', want: 'idea', never: 'asked other' },
    ],
  },
  {
    docs: {
      failed: failedTool(
        'run_terminal_cmd',
        { command: 'helm upgrade quartz' },
        'timed out waiting for the condition',
        { project: 'infra', at: '2026-06-29T16:00:00Z' },
      ),
      fine: tool(
        'run_terminal_cmd',
        { command: 'helm upgrade quartz' },
        { output: 'STATUS: deployed' },
        { project: 'infra', at: '2026-06-30T09:00:00Z' },
      ),
      old: failedTool('run_terminal_cmd', { command: 'helm upgrade quartz' }, 'timed out waiting for the condition', {
        project: 'infra',
        at: '2026-02-11T16:00:00Z',
      }),
    },
    asks: [
      { q: 'helm quartz has:error on:yesterday', want: 'failed', never: 'fine old' },
      { q: 'helm quartz "timed out"', want: 'failed old', never: 'fine' },
      { q: 'helm upgrade quartz after:2d -has:error', want: 'fine', never: 'failed old' },
    ],
  },
  {
    docs: {
      chinese: { text: '玄武岩报表为什么晚上才更新?', project: '支付网关', at: '2026-05-20T10:00:00Z' },
      reply: answer('玄武岩报表的任务在 UTC 零点运行。', { project: '支付网关', at: '2026-05-20T10:05:00Z' }),
      other: { text: '玄武岩报表改成白天更新。', project: 'ledger', at: '2026-05-21T10:00:00Z' },
    },
    asks: [
      { q: '玄武岩报表 project:支付网关', want: 'chinese reply', never: 'other' },
      { q: '玄武岩报表 on:2026-05-20 role:user', want: 'chinese', never: 'reply other' },
    ],
  },
  {
    docs: {
      title: {
        text: 'Here is the plan.',
        title: 'Drop the flint feature flag',
        project: 'storefront',
        at: '2026-06-26T10:00:00Z',
      },
      near: {
        text: 'Not yet.',
        title: 'Add the flint feature flag',
        project: 'storefront',
        at: '2025-06-26T10:00:00Z',
      },
      said: answer('The flint feature flag is still read in two places.', {
        project: 'infra',
        at: '2026-06-26T10:00:00Z',
      }),
    },
    asks: [
      { q: 'flint flag project:storefront after:2026-06-01', want: 'title', never: 'near said', isOfChat: true },
      { q: 'in:title drop flint flag', want: 'title', never: 'near said', isOfChat: true },
    ],
  },
]
