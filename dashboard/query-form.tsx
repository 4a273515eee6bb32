/**
 * A form whose fields become the query of a page in the address bar.
 */
import type { ComponentChildren } from 'preact';

export interface QueryField {
  readonly field: string;
  readonly label: string;
  /** An example of a value. */
  readonly hint: string;
}

interface QueryFormGiven {
  readonly page: string;
  readonly fields: readonly QueryField[];
  readonly query: URLSearchParams;
  /** Its buttons. */
  readonly children: ComponentChildren;
}

export function QueryForm({ page, fields, query, children }: QueryFormGiven) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement; // The handler is that of the form.
    const next = new URLSearchParams();
    for (const [field, value] of new FormData(form, event.submitter))
      if (typeof value === 'string' && value.trim() !== '') next.set(field, value.trim());
    location.hash = `#/${page}?${next}`;
  };
  return (
    <form onSubmit={submit} key={query.toString()} data-page={page}>
      {fields.map(({ field, label, hint }) => (
        <label key={field}>
          {label}
          <input
            name={field}
            placeholder={hint}
            defaultValue={query.get(field) ?? ''}
            autocomplete="off"
            spellcheck={false}
          />
        </label>
      ))}
      {children}
    </form>
  );
}
