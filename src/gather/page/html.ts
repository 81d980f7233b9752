// HTML whose every value is escaped: names and words come from machines, which may be hostile.

/** Markup that was made here. */
export interface Html {
  readonly markup: string;
}

type HtmlValue = string | number | Html | readonly Html[];

/** A template: values are escaped unless they are markup themselves. */
export function html(texts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  const markup = texts.map((text, index) => `${text}${index < values.length ? markupOf(values[index] ?? '') : ''}`);
  return { markup: markup.join('') };
}

function markupOf(value: HtmlValue): string {
  if (typeof value === 'string' || typeof value === 'number') return escaped(String(value));
  return 'markup' in value ? value.markup : value.map(({ markup }) => markup).join('');
}

function escaped(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character);
}

/** A link to a file of the bundle. */
export function fileLink(path: string, text = path): Html {
  return html`<a href="${path.split('/').map(encodeURIComponent).join('/')}">${text}</a>`;
}
