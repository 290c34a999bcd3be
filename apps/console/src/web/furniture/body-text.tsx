// A body as it is: JSON with line breaks, anything else byte for byte. Always as text.
function pretty(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

export function BodyText({ label, text }: { readonly label: string; readonly text: string | null }) {
  if (text === null) return null;
  return (
    <pre className="body-text" tabIndex={0} aria-label={label}>
      {pretty(text)}
    </pre>
  );
}
