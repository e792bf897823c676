/** Raised whenever a rule changes: what was shared by older rules is then shared again. */
export const REDACTION_VERSION = 1

/** The form of a secret. */
export interface SecretRule {
  /** The name that replaces the secret. */
  readonly kind: string
  /**
   * Global. If it ends with a group `secret`, only that group is masked. All repetitions are bounded, so that no text
   * makes it backtrack for long.
   */
  readonly shape: RegExp
  /** Rejects texts that have the form and are no secret. */
  readonly isSecret?: (secret: string) => boolean
}

/** Texts that stand for a value. Each must match as a whole, because a secret may begin with any of these signs. */
const placeholders: readonly RegExp[] = [
  // Masked already; some show the last characters.
  /^[x*.•…]+$/i,
  /^(?:x{4,}|\*{4,}|•{4,})[-\w]{0,4}$/i,
  /^(.)\1+$/,
  // Words, with short numbers as in a list.
  /^(?:your|example|change.?me|replace.?me|placeholder|redacted)[a-z]*\d{0,4}(?:[-_.][a-z]*\d{0,4})*$/i,
  // A variable: in braces, between signs, or `$` and a name that no generator makes.
  /^(?:[-_.:/]?(?:[$#%]?\{\{[^{}]*\}\}|[$#%]?\{[^{}]*\}|\$\([^()]*\)|<[^<>]*>|%\w+%))+$/,
  /^\$(?:env:)?(?:[A-Z_][A-Z0-9_]*|[A-Za-z_]+\d{0,2}|\d{1,2})$/,
  /^%(?:\(\w+\))?[a-z]$/,
  // Code that reads the value.
  /^(?:process\.env|import\.meta\.env|os\.environ|os\.getenv|env)(?:\.[a-z_]\w*)*(?:\[[^[\]]*\]|\([^()]*\))?$/i,
]

/** `${NAME:-default}`: the default can be a secret. */
const withDefault = /^\$\{\w+:?[-=](?<value>[^{}]+)\}$/

function isPlaceholder(text: string): boolean {
  const value = withDefault.exec(text)?.groups?.['value']
  return value === undefined ? placeholders.some((shape) => shape.test(text)) : isPlaceholder(value)
}

const hasDigit = (text: string): boolean => /\d/.test(text)
const hasLetter = (text: string): boolean => /[a-z]/i.test(text)
/** `./keys/a1.pem`, `C:\keys\a1.pem`: the path of a key is no secret. */
const isPath = (text: string): boolean => /^(?:\.{1,2}\/|[a-z]:\\)[^:*?<>|]*$/i.test(text)
const isRandom = (text: string): boolean => hasDigit(text) && hasLetter(text) && !isPlaceholder(text) && !isPath(text)

const isCall = (text: string): boolean => /^[a-z_$][\w$.]*\(.*\)$/i.test(text)
const isBareSecret = (text: string): boolean => {
  const value = text.replace(/[,;]$/, '')
  return value.length >= 8 && isRandom(value) && !isCall(value)
}

/** Names of settings that contain secrets. */
const NAMES =
  'secret(?:[_-]?key)?|token|passw(?:or)?d|passwd|passphrase|pwd|api[_-]?key|access[_-]?key|private[_-]?key|credential|auth[_-]?key'
const secretName = new RegExp(`(?:${NAMES})s?$`, 'i')

/** Whether the value of an object's key is a secret, by the name of the key and by the look of the value. */
export const isNamedSecret = (key: string, value: string): boolean =>
  secretName.test(key.slice(-100)) && /^\S{8,4096}$/.test(value) && isRandom(value)

/** JSON may escape a slash, and .NET escapes a plus: the rules accept both inside a secret. */
export const rules: readonly SecretRule[] = [
  { kind: 'github-token', shape: /(?<![A-Za-z])(?:gh[pousr]_\w{36,255}|github_pat_\w{22,255})/g },
  { kind: 'gitlab-token', shape: /(?<![A-Za-z])gl(?:pat|ptt|dt|rt|cbt|ft|soat|agent|imt|oas|ffct)-[\w-]{20,300}/g },
  { kind: 'slack-token', shape: /(?<!\w)(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,300}/g },
  {
    kind: 'slack-webhook',
    shape: /hooks\.slack\.com\\{0,4}\/(?:services|workflows|triggers)\\{0,4}\/(?:[\w/+-]|\\{1,4}\/){6,200}/g,
  },
  { kind: 'stripe-key', shape: /(?<!\w)(?:(?:sk|rk)_(?:live|test)_|whsec_)[A-Za-z0-9]{16,247}/g },
  {
    kind: 'aws-access-key',
    shape: /(?<!\w)(?:A3T[A-Z0-9]|A(?:KIA|SIA|BIA|CCA|GPA|IDA|ROA|IPA|NPA|NVA))[A-Z0-9]{16}(?!\w)/g,
  },
  { kind: 'google-key', shape: /(?<!\w)(?:AIza[\w-]{35}|GOCSPX-[\w-]{28}|ya29\.[\w-]{20,1000})/g },
  { kind: 'anthropic-key', shape: /(?<![A-Za-z])sk-ant-[\w-]{20,300}/g },
  {
    kind: 'openai-key',
    shape:
      /(?<![A-Za-z])sk-(?:(?:proj|svcacct|admin)-[\w-]{20,300}|[A-Za-z0-9]{40,60}(?!\w)|[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20})/g,
    isSecret: hasDigit,
  },
  { kind: 'npm-token', shape: /(?<![A-Za-z])npm_\w{36}(?!\w)/g },
  { kind: 'pypi-token', shape: /(?<!\w)pypi-AgE[\w-]{50,1000}/g },
  { kind: 'sendgrid-key', shape: /(?<![A-Za-z])SG\.[\w-]{16,64}\.[\w-]{16,64}/g },
  { kind: 'twilio-key', shape: /(?<!\w)SK[0-9a-f]{32}(?!\w)/g },
  { kind: 'telegram-token', shape: /(?<![\w:])\d{8,10}:AA[\w-]{32,35}(?![\w-])/g },
  { kind: 'discord-token', shape: /(?<![\w-])[MNO][A-Za-z\d_-]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])/g },
  { kind: 'huggingface-token', shape: /(?<![A-Za-z])hf_(?:[A-Za-z0-9]{30,40}(?!\w)|[A-Za-z]{34}(?![A-Za-z]))/g },
  { kind: 'digitalocean-token', shape: /(?<!\w)do[opr]_v1_[a-f0-9]{64}/g },
  { kind: 'shopify-token', shape: /(?<![A-Za-z])shp(?:at|ca|p?pa|ss)_[A-Za-z0-9]{32,64}/g },
  { kind: 'vault-token', shape: /(?<![A-Za-z])hv[sbr]\.[\w-]{24,300}/g },
  { kind: 'databricks-token', shape: /(?<![A-Za-z])dapi[a-fA-F0-9]{32}(?:-\d)?(?![a-fA-F0-9])/g },
  { kind: 'linear-key', shape: /(?<![A-Za-z])lin_(?:api|oauth)_\w{32,128}/g },
  { kind: 'notion-token', shape: /(?<![A-Za-z])(?:ntn_|secret_)[A-Za-z0-9]{40,60}(?!\w)/g },
  { kind: 'docker', shape: /(?<![A-Za-z])dckr_pat_[\w-]{27}(?![\w-])/g },
  { kind: 'figma', shape: /(?<![A-Za-z])figd_[\w-]{40,200}/g },
  { kind: 'grafana', shape: /(?<![A-Za-z])(?:glc_[A-Za-z0-9+/]{32,400}={0,2}|glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8})/g },
  { kind: 'groq', shape: /(?<![A-Za-z])gsk_[A-Za-z0-9]{52}(?![A-Za-z0-9])/g },
  { kind: 'vercel', shape: /(?<![A-Za-z])vc[piark]_[A-Za-z0-9]{20,60}(?![A-Za-z0-9])/g },
  { kind: '1password', shape: /(?<![A-Za-z])ops_ey[A-Za-z0-9+/=]{100,1280}/g },
  { kind: 'age-key', shape: /AGE-SECRET-KEY-1[A-Z0-9]{58}/g },
  {
    kind: 'azure-key',
    shape: /(?:AccountKey|SharedAccessKey)=(?<secret>(?:[A-Za-z0-9+/]|\\{1,4}(?:\/|u002[bBfF])){40,100}={0,2})/g,
  },
  { kind: 'jwt', shape: /(?<![\w-])eyJ[\w-]{10,8192}\.eyJ[\w-]{10,8192}\.[\w-]{10,2048}/g },
  {
    kind: 'url-password',
    // Up to the last @ before the host, but not one in the query after the host. The user's name can be an address.
    shape:
      /(?<![a-z0-9])[a-z][a-z0-9+.-]{1,20}:(?:\\{0,4}\/){2}[^\s/:"'<>\\]{0,200}:(?<secret>(?:[^\s/@"'<>\\]|\\{1,4}u002[b6]){1,200}(?:@(?:(?!\?[\w.-]{1,40}=)(?:[^\s/@"'<>\\]|\\{1,4}u002[b6])){0,200}){0,20})(?=@)/gi,
    isSecret: (secret) => !isPlaceholder(secret),
  },
  {
    kind: 'url-password',
    // GitHub takes a token as the user's name.
    shape: /https?:(?:\\{0,4}\/){2}(?<secret>[^\s/:@"'<>\\]{1,256})(?=:x-oauth-basic@)/gi,
    isSecret: (secret) => !isPlaceholder(secret),
  },
  {
    kind: 'authorization',
    shape: /(?<!\w)(?:Bearer|Basic)\s{1,4}(?<secret>(?:[A-Za-z0-9+/_.~=-]|\\{1,4}(?:\/|u002[bf])){20,4096})/gi,
    isSecret: hasDigit,
  },
  {
    kind: 'named-secret',
    // Quoted, or quoted within a quoted text: up to the same quote, whatever other quotes and escapes come before it.
    shape: new RegExp(
      String.raw`(?:${NAMES})s?\\{0,3}["'\x60]?\s{0,4}(?:=>|:=|[:=])\s{0,4}(?<quote>\\{0,3}["'\x60])(?<secret>(?:(?!\k<quote>)(?:\\{1,8}[^\s\\]|[^\s\\])){8,4096})(?=\\{0,3}["'\x60])`,
      'gi',
    ),
    isSecret: isRandom,
  },
  {
    kind: 'named-secret',
    // Unquoted, as in a settings file.
    shape: new RegExp(
      String.raw`(?:${NAMES})s?\s{0,4}[:=]\s{0,4}(?<secret>[A-Za-z0-9+/_=~-]{16,4096}(?:[#@!%^*:$]{1,8}[A-Za-z0-9+/_=~-]{1,4096}){0,20})(?![\w(.\[])`,
      'gi',
    ),
    isSecret: (secret) => isRandom(secret) && secret.replace(/\D/g, '').length > 1,
  },
  {
    kind: 'named-secret',
    // Unquoted, after a name that can only be a variable's: any sign belongs to the value, also a quote inside it.
    // A line number, a file name or the mark of a diff may come before the name.
    shape: new RegExp(
      String.raw`(?<![^\s"'\x60|:+-])[A-Z0-9_]{0,80}(?:${NAMES.toUpperCase()})S?=(?<secret>[^\s"'\x60]{1,4096}(?:["'\x60](?![,;:)\]}]|\\+[nrt])[^\s"'\x60]{1,4096}){0,20})`,
      'g',
    ),
    isSecret: isBareSecret,
  },
  {
    kind: 'named-secret',
    // In XML, such as the settings of Maven and NuGet.
    shape: new RegExp(
      String.raw`<[\w.:-]{0,80}(?:${NAMES})s?(?:\s[^<>]{0,200})?>\s{0,40}(?<secret>[^<>\s]{8,4096})(?=\s{0,40}<\\{0,4}/)`,
      'gi',
    ),
    isSecret: isRandom,
  },
  {
    kind: 'user-password',
    // Given to curl. Other commands take a user and a group, a time or an address there: git, rsync and pip.
    shape:
      /(?<![^\s"'`])(?:-u|--(?:proxy-)?user)[\s=]{1,4}\\{0,8}["'`]?(?!git@)[^\s:"'`\\\d][^\s:"'`\\]{0,200}:(?!\\{0,4}\/)(?<secret>[^\s"'`]{6,200})/g,
    isSecret: isRandom,
  },
  {
    kind: 'named-secret',
    // In a connection string: `Server=db;Password=…;Database=shop`.
    shape: /(?<![^\s;"'`])(?:password|pwd)\s?=\s?(?<secret>[^\s;"'`]{8,200})(?=;\s?[a-z][\w ]{1,40}=)/gi,
    isSecret: isBareSecret,
  },
  {
    kind: 'named-secret',
    // A secret key of AWS always has 40 characters, and some have no digit.
    shape:
      /secret_?access_?key\\{0,3}["']?\s{0,8}(?::|=>|=)\s{0,8}\\{0,3}["']?(?<secret>[A-Za-z0-9/+=]{40})(?![A-Za-z0-9/+=])/gi,
    isSecret: (secret) => !isPlaceholder(secret),
  },
  {
    kind: 'named-secret',
    // In .npmrc.
    shape: /_authToken=(?<secret>[^\s$"'`][^\s"'`]{0,4096})/g,
    isSecret: (secret) => !isPlaceholder(secret),
  },
  {
    kind: 'aws',
    shape: /account_?(?:id)?\\{0,3}["']?\s{0,8}(?::|=>|=)\s{0,8}\\{0,3}["']?(?<secret>\d{4}-?\d{4}-?\d{4})\b/gi,
  },
]
