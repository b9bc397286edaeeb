"""The tools of Larkfield's support desk, one part a desk (toolparts/).

What policy asks, the tools enforce: nothing of an account without a verified caller, nothing that an authorized person
may not do, no write about something that was not read in this call, return windows, the limit of a credit (a review is
recorded instead), one open repair a device, a plan change only with the date that was quoted. Reading tools write
nothing. A write that is repeated answers as the first did.
"""

from __future__ import annotations

from .account import (
    add_authorized_person,
    find_account,
    get_account,
    remove_authorized_person,
    set_billing_address,
    update_phone,
    verify_customer,
)
from .billing import (
    apply_credit,
    explain_charge,
    list_invoices,
    open_dispute,
    request_refund_review,
    send_payment_link,
    set_payment_date,
)
from .front import check_outage, get_policy, list_plans, take_message
from .orders import (
    cancel_order_item,
    change_delivery_address,
    get_order,
    list_addresses,
    list_orders,
    open_delivery_trace,
    request_intercept,
)
from .plans import cancel_plan_change, change_plan, get_subscription, quote_plan_change
from .repairs import (
    cancel_repair,
    change_repair_mode,
    check_device,
    list_devices,
    open_repair,
    request_replacement_review,
)
from .returns import (
    cancel_return,
    check_return,
    list_products,
    list_returns,
    open_exchange,
    open_return,
    request_return_exception,
)
from .service import add_outage_alert, get_service_status, restart_equipment, run_line_test
from .visits import book_visit, cancel_visit, find_visit_slots, move_visit

__all__ = [
    "add_authorized_person",
    "add_outage_alert",
    "apply_credit",
    "book_visit",
    "cancel_order_item",
    "cancel_plan_change",
    "cancel_repair",
    "cancel_return",
    "cancel_visit",
    "change_delivery_address",
    "change_plan",
    "change_repair_mode",
    "check_device",
    "check_outage",
    "check_return",
    "explain_charge",
    "find_account",
    "find_visit_slots",
    "get_account",
    "get_order",
    "get_policy",
    "get_service_status",
    "get_subscription",
    "list_addresses",
    "list_devices",
    "list_invoices",
    "list_orders",
    "list_plans",
    "list_products",
    "list_returns",
    "move_visit",
    "open_delivery_trace",
    "open_dispute",
    "open_exchange",
    "open_repair",
    "open_return",
    "quote_plan_change",
    "remove_authorized_person",
    "request_intercept",
    "request_refund_review",
    "request_replacement_review",
    "request_return_exception",
    "restart_equipment",
    "run_line_test",
    "send_payment_link",
    "set_billing_address",
    "set_payment_date",
    "take_message",
    "update_phone",
    "verify_customer",
]
