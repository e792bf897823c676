import { answer, code, failedTool, thought, type Scene } from '../corpus/planted.ts'

/** Fields that narrow a question, except dates. */
export const filters: readonly Scene[] = [
  {
    docs: {
      here: { text: 'The juniper cache is cold after each deploy.', project: 'storefront' },
      there: { text: 'The juniper cache is cold there, too.', project: 'infra' },
      reply: answer('Warm the juniper cache in a hook.', { project: 'storefront' }),
    },
    asks: [
      { q: 'juniper cache project:storefront', want: 'here reply', never: 'there' },
      { q: 'project:infra juniper', want: 'there', never: 'here reply' },
      { q: 'project:storefront role:assistant juniper', want: 'reply', never: 'here there' },
    ],
  },
  {
    docs: {
      asked: 'Does the hazel parser accept tabs?',
      replied: answer('The hazel parser accepts tabs since March.'),
      mused: thought('The hazel parser may not accept tabs at all.'),
    },
    asks: [
      { q: 'role:user hazel parser', want: 'asked', never: 'replied mused' },
      { q: 'role:assistant hazel parser', want: 'replied mused', never: 'asked' },
      { q: 'in:thinking hazel parser', want: 'mused', never: 'asked replied' },
      { q: 'in:text hazel tabs', want: 'asked replied', never: 'mused' },
    ],
  },
  {
    docs: {
      shown: code('rust', 'src/sycamore.rs', 'pub fn sycamore_depth(tree: &Tree) -> usize { 0 }'),
      said: answer('sycamore_depth is never more than nine.'),
      attached: { text: 'Explain this.', attached: ['src/sycamore_depth.rs'] },
    },
    asks: [
      { q: 'in:code sycamoreDepth', want: 'shown', never: 'said attached' },
      { q: 'has:code sycamoreDepth', want: 'shown', never: 'said attached' },
      { q: 'in:attachment sycamoreDepth', want: 'attached', never: 'said shown' },
    ],
  },
  {
    docs: {
      opus: answer('An alder tree is balanced by rotation.', { model: 'claude-4.5-opus' }),
      gpt: answer('An alder tree is balanced by splitting.', { model: 'gpt-5-codex' }),
      plain: 'What is an alder tree?',
    },
    asks: [
      { q: 'model:claude-4.5-opus alder tree', want: 'opus', never: 'gpt plain' },
      { q: 'alder tree model:gpt-5-codex', want: 'gpt', never: 'opus plain' },
    ],
  },
  {
    docs: {
      agent: { text: 'Move the rowan config to one file.', mode: 'agent' },
      plan: { text: 'How would you move the rowan config?', mode: 'plan' },
      chat: { text: 'What is in the rowan config?', mode: 'chat' },
    },
    asks: [
      { q: 'mode:plan rowan config', want: 'plan', never: 'agent chat' },
      { q: 'rowan config mode:agent', want: 'agent', never: 'plan chat' },
    ],
  },
  {
    docs: {
      archived: { text: 'The linden importer is slow on big files.', isArchived: true },
      open: { text: 'The linden importer is slow on small files.', title: 'Linden, open' },
    },
    asks: [
      { q: 'is:archived linden importer', want: 'archived', never: 'open' },
      { q: 'linden importer -is:archived', want: 'open', never: 'archived' },
    ],
  },
  {
    docs: {
      chinese: { text: 'The willow hook is called late.', project: '支付网关' },
      other: { text: 'The willow hook is called early.', project: 'billing-core' },
      third: { text: 'The willow hook is not called.', project: 'ledger' },
    },
    asks: [
      { q: 'project:支付网关 willow hook', want: 'chinese', never: 'other third' },
      { q: 'willow hook (project:billing-core OR project:ledger)', want: 'other third', never: 'chinese' },
      { q: 'willow hook -project:ledger', want: 'chinese other', never: 'third' },
    ],
  },
  {
    docs: {
      broken: failedTool('run_terminal_cmd', { command: 'make aspen' }, 'aspen: permission denied'),
      shown: { role: 'assistant', error: 'The aspen provider did not answer.' },
      fine: answer('make aspen works now.'),
    },
    asks: [
      { q: 'has:error aspen', want: 'broken shown', never: 'fine' },
      { q: 'aspen -has:error', want: 'fine', never: 'broken shown' },
    ],
  },
  {
    docs: {
      path: { text: 'Why is the poplar lint rule off?', project: 'atlas-mobile' },
      other: { text: 'Switch the poplar lint rule on.', project: 'docs-site' },
    },
    asks: [
      { q: 'project:/home/ada/code/atlas-mobile poplar lint', want: 'path', never: 'other' },
      { q: 'project:"docs-site" poplar lint', want: 'other', never: 'path' },
    ],
  },
  {
    docs: {
      mused: thought('Maybe the cedar shim is not needed.'),
      said: answer('The cedar shim can go.'),
      asked: { text: 'Is the cedar shim needed?', project: 'weather-station' },
    },
    asks: [
      { q: 'has:thinking cedar shim', want: 'mused', never: 'said asked' },
      { q: 'cedar shim project:weather-station role:user', want: 'asked', never: 'said mused' },
    ],
  },
]
