"""Whether a function takes what a call gives it."""

from __future__ import annotations

from d9m.scan.facts import OWN, CodeScope, LocalCall


def fits(call: LocalCall, function: CodeScope, is_method: bool) -> bool:
    """False if the call is sure to raise TypeError: an unknown keyword, too many positional
    arguments, or a required one missing. A method whose first parameter is not ``self`` may be
    static, so it takes anything.
    """
    if function.opened_by or call.has_rest or not call.is_call:
        return True
    parameters = function.parameters
    if is_method:
        if not parameters or parameters[0][0] not in OWN:
            return True
        parameters = parameters[1:]
    keywords = {*call.asked, *(name for name, _value in call.constants if not name.isdigit())}
    names = [name for name, _default in parameters]
    if not keywords.issubset(names):
        return False
    spare = 1 if is_method else 0
    if call.positional > len(parameters) + spare:
        return False
    left = parameters[call.positional :]
    return all(default or name in keywords for name, default in left)
